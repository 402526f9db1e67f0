# SPDX-License-Identifier: BSD-3-Clause
"""What bench/learn compares: one row per method, ours and scikit-learn's side by side with equal settings, and one
row per set of data. Read by the reference (learn_reference.py), by the tables (learn_table.py) and, as the job list
that this program writes, by our side (learn.c). Needs nothing but Python.

usage: learn_cases.py jobs PARTS SHARED WORK FULL           the job list
       learn_cases.py exact SHARED WORK                     name, file, target, features of sets to compare digits on
PARTS: a word or several, comma-separated: classify, regress, grouped, targets. FULL: 1 runs every seed and fold."""
import os
import sys
from collections import namedtuple

# A bar of None is a figure without one. seeds: 1 where the method is deterministic, but for ties. first: so many folds,
# 0 for all (the reference of a Gaussian process takes minutes a fold). reference: scikit-learn with `seed` in it;
# scaled() centres and scales, shaped() also makes columns normal as caret does.
Method = namedtuple("Method", "label learner settings recipe reference speed seeds first")

SCALE, SHAPE = "centre,scale", "boxcox=caret,centre,scale"

CLASSIFY = [
    Method("naive Bayes", "bayes", "", SCALE, "scaled(GaussianNB())", 5, 1, 0),
    Method("CART", "tree", "", "none", "DecisionTreeClassifier(random_state=seed)", 3, 5, 0),
    Method("CART, depth 6", "tree", "depth=6,leaf=20", "none",
           "DecisionTreeClassifier(max_depth=6, min_samples_leaf=20, random_state=seed)", 3, 5, 0),
    Method("boosting 100", "boosting", "trees=100,depth=3,rate=0.1", "none",
           "GradientBoostingClassifier(random_state=seed)", 10, 1, 0),
    Method("SVM-RBF", "svm", "folds=0", SCALE, "scaled(SVC(C=1, gamma='scale'))", 1, 1, 0),
    Method("SVM-RBF, chances", "svm", "folds=5", SCALE,
           "scaled(SVC(C=1, gamma='scale', probability=True, random_state=seed))", 1, 1, 0),
    Method("forest 50", "forest", "trees=50", "none", "RandomForestClassifier(50, random_state=seed)", 5, 5, 0),
    Method("MLP 100", "perceptron", "hidden=100", SCALE, "scaled(MLPClassifier((100,), random_state=seed))", 3, 5, 0),
    Method("logistic", "logistic", "", SCALE, "scaled(LogisticRegression(max_iter=500))", None, 1, 0),
    Method("k-NN 5", "neighbours", "k=5", SCALE, "scaled(KNeighborsClassifier(5))", 5, 1, 0),
]
# WAN-24: the six of the paper, which wanted no chances of its SVM.
SIX = ["CART", "naive Bayes", "boosting 100", "SVM-RBF", "forest 50", "MLP 100"]

REGRESS = [
    Method("linear", "linear", "", SCALE, "scaled(LinearRegression())", None, 1, 0),
    Method("k-NN 5", "neighbours", "k=5", SCALE, "scaled(KNeighborsRegressor(5))", 5, 1, 0),
    Method("SVR-RBF", "svm", "cost=16,gamma=0.5,epsilon=0.1", SHAPE,
           "shaped(SVR(C=16, gamma=0.5, epsilon=0.1))", 1, 1, 0),
    Method("CART", "tree", "leaf=5", "none", "DecisionTreeRegressor(min_samples_leaf=5, random_state=seed)", 3, 5, 0),
    Method("forest 100", "forest", "trees=100,features=0.6", "none",
           "RandomForestRegressor(100, max_features=0.6, random_state=seed)", 5, 5, 0),
    Method("boosting 300", "boosting", "trees=300,depth=5,rate=0.1,leaf=10", "none",
           "GradientBoostingRegressor(n_estimators=300, max_depth=5, min_samples_leaf=10, random_state=seed)",
           10, 1, 0),
    Method("MLP 16", "perceptron", "hidden=16,alpha=0.1,solver=lbfgs,rounds=300", SHAPE,
           "shaped(MLPRegressor((16,), alpha=0.1, solver='lbfgs', max_iter=300, random_state=seed))", 3, 5, 0),
    Method("Gaussian process", "gaussian", "kernel=matern52,categories=none,restarts=0", SHAPE,
           "shaped(GaussianProcessRegressor(ConstantKernel(1.) * Matern(np.ones(width), (1e-2, 1e3), nu=2.5)"
           " + WhiteKernel(.1), normalize_y=True, random_state=seed))", None, 1, 1),
    Method("rules", "rules", "", "none", None, None, 1, 0),
]

# features: as in data/dataset.h. folds: columns, each a case of its own, with the word to call it by. root: SHARED or
# WORK. task: classify, regress, or log (learns the logarithm). only: None for all methods of the task.
Set = namedtuple("Set", "name root file target features folds task only")

JOBS_MIX = "n_*,run_*,nodes_*,started5,ended5,mean_remain_h,lat,lat_*"
SETS = {
    "classify": [
        Set("titan", "SHARED", "data/classify/titan_oss0_step10_h1.csv", "label", JOBS_MIX,
            [("fold_shuf", "shuffled"), ("fold_block", "blocked")], "classify", None),
        Set("cori", "SHARED", "data/classify/cori_oss0_step1_h1.csv", "label", JOBS_MIX,
            [("fold_shuf", "shuffled"), ("fold_block", "blocked")], "classify", None),
        Set("made, 3 classes", "WORK", "classes.csv", "label", "x*", [("fold", "")], "classify",
            # Without chances there is no AUC of three classes.
            [m.label for m in CLASSIFY if m.label != "SVM-RBF"]),
    ],
    "regress": [
        Set("forge", "SHARED", "data/regress/reg_forge.csv", "bw", "*,-bw,-fold", [("fold", "")], "log",
            [m.label for m in REGRESS if m.label != "Gaussian process"]),
        Set("vast", "SHARED", "data/regress/reg_vast.csv", "bw", "*,-bw,-fold", [("fold", "")], "log", None),
        Set("friedman", "WORK", "friedman.csv", "y", "x*", [("fold", "")], "regress",
            ["linear", "k-NN 5", "SVR-RBF", "CART", "forest 100", "boosting 300", "MLP 16", "rules"]),
    ],
    # Many targets, told apart by the column of that name; learn_data.py makes them.
    "targets": [Set("targets", "WORK", "targets.csv", "label", JOBS_MIX, [("fold", "")], "classify", SIX)],
    # Repeated measurements of a configuration stay on one side.
    "grouped": [
        Set("forge, unseen configurations", "WORK", "forge_grouped.csv", "bw", "*,-bw,-fold", [("fold", "")], "log",
            ["linear", "k-NN 5", "SVR-RBF", "forest 100", "boosting 300", "MLP 16", "rules"]),
    ],
}

# Where digits are compared.
EXACT = [SETS["classify"][0]] + SETS["regress"]

# Figures of the literature's implementation where no package can be run beside us: the original Cubist, measured
# earlier with 30 candidates (ANCHORS, section 4).
FIGURES = {"forge//rules": dict(rmse=0.290, r2=0.950, median=0.123)}

Job = namedtuple("Job", "id file target features fold task learner settings recipe seeds first reference")


def methods(task):
    return CLASSIFY if task == "classify" else REGRESS


def job_id(data, kind, method):
    return "/".join([data.name, kind, method.label])


def jobs(parts, shared, work, full):
    for part in parts:
        for data in SETS[part]:
            root = shared if data.root == "SHARED" else work
            for column, kind in data.folds:
                for m in methods(data.task):
                    if data.only and m.label not in data.only:
                        continue
                    yield Job(job_id(data, kind, m), os.path.join(root, data.file), data.target, data.features,
                              column, data.task, m.learner, m.settings, m.recipe,
                              5 if full and m.seeds > 1 else m.seeds, 0 if full else m.first, m.reference)


def read(path):
    """The job list as jobs; an empty field is a dash in the file."""
    with open(path) as lines:
        for line in lines:
            job = Job(*["" if w == "-" else w for w in line.rstrip("\n").split("\t")])
            yield job._replace(seeds=int(job.seeds), first=int(job.first))


def line(values):
    print("\t".join(str(v) if v not in ("", None) else "-" for v in values))


if __name__ == "__main__":
    if sys.argv[1] == "jobs":
        for job in jobs(sys.argv[2].split(","), sys.argv[3], sys.argv[4], sys.argv[5] == "1"):
            line(job)
    else:
        for data in EXACT:
            root = sys.argv[2] if data.root == "SHARED" else sys.argv[3]
            line([data.name, os.path.join(root, data.file), data.target, data.features])
