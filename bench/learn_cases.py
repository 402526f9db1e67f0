# SPDX-License-Identifier: BSD-3-Clause
"""The cases of bench/learn: one row per method, for Sluice and scikit-learn with equal settings, and one row per data
set. learn_reference.py and learn_table.py import it; learn.c reads the job list that this program writes. It needs
only Python.

usage: learn_cases.py jobs PARTS SHARED WORK FULL           the job list
       learn_cases.py exact SHARED WORK                     name, file, target and features of the sets for exact comparison
PARTS: one or more of these words, separated by commas: classify, regress, grouped, targets. FULL: 1 runs every seed and fold."""
import os
import sys
from collections import namedtuple

# bar: the threshold, or None. seeds: 1 if the method is deterministic except for ties. first: the number of folds, 0 for
# all (the reference of a Gaussian process takes minutes per fold). reference: the scikit-learn expression, which may
# use `seed`; scaled() centers and scales, shaped() also transforms columns to normality like caret.
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
# The six classifiers of the forecast paper, which used no probabilities of its SVM.
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

# features: as in learn/table/dataset.h. folds: columns with folds; each is a case with a name. root: SHARED or WORK.
# task: classify, regress, or log (learns the logarithm). only: the methods, or None for all methods of the task.
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
    # Many targets, distinguished by the column of that name; learn_data.py creates them.
    "targets": [Set("targets", "WORK", "targets.csv", "label", JOBS_MIX, [("fold", "")], "classify", SIX)],
    # Repeated measurements of a configuration are in the same fold.
    "grouped": [
        Set("forge, unseen configurations", "WORK", "forge_grouped.csv", "bw", "*,-bw,-fold", [("fold", "")], "log",
            ["linear", "k-NN 5", "SVR-RBF", "forest 100", "boosting 300", "MLP 16", "rules"]),
    ],
}

# Data sets for exact comparison.
EXACT = [SETS["classify"][0]] + SETS["regress"]

# Figures of implementations that are not available as a package: the original Cubist, measured earlier with 30
# candidates.
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
    """Reads the job list; a dash in the file is an empty field."""
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
