/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The parts of the page that have a file of their own. Each function appends one section.
 */
#ifndef SLUICE_OBSERVE_PAGE_PARTS_H
#define SLUICE_OBSERVE_PAGE_PARTS_H

struct buf;
struct page;
struct report;

void page_put_findings(struct buf *out, const struct report *report);
void page_put_plots(struct buf *out, const struct page *page);

#endif
