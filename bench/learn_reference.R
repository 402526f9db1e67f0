# SPDX-License-Identifier: BSD-3-Clause
# Runs jobs of bench/learn with R: Box-Cox powers of caret, and support vector regression of e1071 after the
# preparation of caret. Input files are those of learn_cases.py; `svr` prints lines like learn_reference.py.
# usage: learn_reference.R powers CSV COLUMN... | svr JOBS
suppressWarnings(suppressPackageStartupMessages({ library(caret); library(e1071) }))
words <- commandArgs(trailingOnly = TRUE)

powers <- function(file, columns) {
	table <- read.csv(file)
	for (name in columns) {
		x <- table[[name]]
		power <- if (min(x) > 0) BoxCoxTrans(x)$lambda else NA
		# caret keeps the power and applies it with a fudge of 0.2: near 0 is the logarithm, near 1 nothing.
		if (!is.na(power) && abs(power) < 0.2) power <- 0
		if (!is.na(power) && abs(power - 1) < 0.2) power <- NA
		cat(name, "\t", power, "\n", sep = "")
	}
}

setting <- function(text, name) as.numeric(sub(paste0(".*", name, "=([^,]*).*"), "\\1", text))

chosen <- function(table, features) {
	names <- character()
	for (item in strsplit(features, ",")[[1]]) {
		found <- grep(glob2rx(sub("^-", "", item)), names(table), value = TRUE)
		names <- if (startsWith(item, "-")) setdiff(names, found) else union(names, found)
	}
	names
}

svr <- function(job) {
	table <- read.csv(job$file)
	x <- table[chosen(table, job$features)]
	y <- table[[job$target]]
	if (job$task == "log") y <- log(y)
	guess <- numeric(length(y))
	fit_s <- predict_s <- 0
	for (fold in sort(unique(table[[job$fold]]))) {
		test <- table[[job$fold]] == fold
		start <- sum(proc.time()[1:2])
		shape <- suppressWarnings(preProcess(x[!test, ], method = c("BoxCox", "center", "scale")))
		model <- svm(as.matrix(predict(shape, x[!test, ])), y[!test], scale = FALSE, type = "eps-regression",
			cost = setting(job$settings, "cost"), gamma = setting(job$settings, "gamma"),
			epsilon = setting(job$settings, "epsilon"))
		fitted <- sum(proc.time()[1:2])
		guess[test] <- predict(model, as.matrix(predict(shape, x[test, ])))
		fit_s <- fit_s + fitted - start
		predict_s <- predict_s + sum(proc.time()[1:2]) - fitted
	}
	real <- if (job$task == "log") exp(guess - y) else guess / y
	cat(sprintf("id=%s\tseed=0\trmse=%.9g\tr2=%.9g\tmedian=%.9g\tfit_s=%.9g\tpredict_s=%.9g\n", job$id,
		sqrt(mean((guess - y)^2)), 1 - sum((guess - y)^2) / sum((y - mean(y))^2), median(abs(real - 1)),
		fit_s, predict_s))
}

if (words[1] == "powers") {
	powers(words[2], words[-(1:2)])
} else {
	jobs <- read.delim(words[2], header = FALSE, quote = "", colClasses = "character", col.names = c("id", "file",
		"target", "features", "fold", "task", "learner", "settings", "recipe", "seeds", "first", "reference"))
	for (i in which(jobs$learner == "svm" & jobs$task != "classify")) svr(jobs[i, ])
}
