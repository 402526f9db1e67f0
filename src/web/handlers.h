/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the application answers; docs/reference/api.md describes it. A handler is named after its
 * route in web.c.
 */
#ifndef SLUICE_WEB_HANDLERS_H
#define SLUICE_WEB_HANDLERS_H

struct web_call;

/* about.c */
void handle_about(struct web_call *call);
void handle_settings(struct web_call *call);

/* runs.c */
void handle_runs(struct web_call *call);
void handle_run(struct web_call *call);
void handle_run_plot(struct web_call *call);
void handle_compare(struct web_call *call);

/* windows.c */
void handle_window(struct web_call *call);
void handle_heatmap(struct web_call *call);
void handle_causes(struct web_call *call);
void handle_offsets(struct web_call *call);

/* activities.c */
void handle_activities(struct web_call *call);
void handle_activity(struct web_call *call);

/* programs.c */
void handle_programs(struct web_call *call);
void handle_program(struct web_call *call);
void handle_changes(struct web_call *call);

/* tags.c */
void handle_tags(struct web_call *call);
void handle_change_tags(struct web_call *call);

/* tunings.c */
void handle_tunings(struct web_call *call);
void handle_tuning(struct web_call *call);
void handle_tuning_outcome(struct web_call *call);
void handle_tuning_events(struct web_call *call);
void handle_tuning_stop(struct web_call *call);
void handle_tuning_resume(struct web_call *call);

/* knowledge.c */
void handle_knowledge(struct web_call *call);

/* targets.c */
void handle_targets(struct web_call *call);
void handle_target_history(struct web_call *call);
void handle_forecast(struct web_call *call);

/* loads.c */
void handle_load(struct web_call *call);

/* node.c */
void handle_node(struct web_call *call);
void handle_run_statistics(struct web_call *call);

/* models.c */
void handle_models(struct web_call *call);
void handle_model(struct web_call *call);
void handle_recommend(struct web_call *call);

/* site.c: what the server of a site answers */
void handle_site_about(struct web_call *call);
void handle_site_runs(struct web_call *call);
void handle_site_sums(struct web_call *call);
void handle_site(struct web_call *call);

#endif
