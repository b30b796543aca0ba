"""What codes with several causes stand for: what is wrong, and what to do about it."""

CAUSES: dict[str, tuple[tuple[str, str], ...]] = {
    "T013": (
        (
            "The header or the first column lacks a category, or has one twice.",
            "List the same categories, in the same order, in both.",
        ),
        (
            "A probability is not a number from 0 to 1, or a row lacks one.",
            "Give every row as many numbers from 0 to 1 as there are categories.",
        ),
        (
            "A row does not sum to 1, within 1e-9.",
            "Correct its probabilities. Decimals that are cut off, such as 0.33, do not sum to 1.",
        ),
        (
            "The file is too large, or has too many categories.",
            "Merge rare categories, by `recoding` for example.",
        ),
    ),
    "R013": (
        (
            (
                "The column holds texts, truth values, lists or images, and the masking takes "
                "numbers; or the other way round."
            ),
            (
                "Choose a masking for such values. `pram`, `recoding` and `rank-swapping` with "
                "`pe:order` take texts, `pixelation` images."
            ),
        ),
        (
            (
                "It holds dates or times, and the masking needs a zero, as `multiplicative-noise` "
                "and `rounding` do."
            ),
            "Use `noise`, `rank-swapping` or `microaggregation`, which do not.",
        ),
        (
            (
                "It holds numbers with a decimal comma, or dates such as 21.01.2023, which are "
                "read as texts."
            ),
            "Correct the file: decimals have a point, and dates are written 2023-01-21.",
        ),
        (
            "It holds texts to be ranked, and nothing says in which order.",
            "Set `pe:order` to `lexicographic` if that order has a meaning; otherwise use `pram`.",
        ),
        (
            (
                "It holds infinite numbers, numbers of hundreds of digits, or integers of more "
                "than 53 bits where floats are computed with."
            ),
            "Correct the numbers, or make the column coarser with `rounding`, which is exact.",
        ),
        (
            "All its numbers are the same, so that no scale follows from them.",
            "Release the column as it is, or leave it out.",
        ),
        (
            "It holds integers, and a parameter of the masking has decimals.",
            "Use an integer base, threshold or padding.",
        ),
        (
            "No value is beyond `pe:threshold`.",
            (
                "Choose another threshold, or another role for the column: it would be published "
                "as it is."
            ),
        ),
        (
            "No value has `pe:tail` rows beyond it.",
            "Choose a smaller tail. Where many values are equal, no tail may be possible.",
        ),
        (
            "One value alone would be published as the mean of the tail.",
            (
                "Let the tail be of more rows, or publish the threshold or a label instead of the "
                "mean."
            ),
        ),
        (
            "A group or block would have more rows, or pixels, than there are.",
            "Choose a smaller `pe:groupSize` or `pe:blockSize`.",
        ),
        (
            "The masking leaves every value as it was.",
            (
                "Increase its scale or `pe:p`: it is less than one rank, or less than half the "
                "last place of the numbers."
            ),
        ),
        (
            "A row has some, but not all, values of columns masked together, or given others.",
            "Fill in the missing values, mask columns one by one, or give them other columns.",
        ),
        (
            "The columns for `pram` have more categories than a certificate can list.",
            "Use `recoding` for columns with many categories.",
        ),
        (
            (
                "The matrix file lacks categories of the column, or has some that its type cannot "
                "hold."
            ),
            "Add those that the message lists to the file, or remove them.",
        ),
        (
            "The taxonomy has no such `pe:level`, or no labels for values of this type.",
            "Choose one of the levels that the message names.",
        ),
        (
            "The result does not fit into the type of the column.",
            "Widen the type, for example the precision of a decimal, or change the parameters.",
        ),
        (
            (
                "Images differ in shape, are incomplete, or come as flat lists whose shape is not "
                "given."
            ),
            (
                "Bring them to one shape, and give `pe:height`, `pe:width` and `pe:channels` for "
                "flat lists."
            ),
        ),
    ),
    "R014": (
        (
            "The sample is larger than the table.",
            "Ask for fewer rows or persons, or for a share.",
        ),
        (
            "No row was drawn.",
            (
                "Ask for a larger share. On a small table, a Bernoulli sample can be empty; "
                "`pe:sampleSize` cannot."
            ),
        ),
        (
            "Strata are so small that none of their rows would be drawn.",
            "Sample more, or stratify by fewer columns.",
        ),
        (
            "There are too many strata.",
            (
                "Stratify by columns with fewer values, such as age groups rather than dates of "
                "birth."
            ),
        ),
        (
            "Rows of one person belong to different strata.",
            "Stratify by what is the same in all rows of a person, or leave out `pe:privacyUnit`.",
        ),
    ),
    "R015": (
        (
            (
                "One sensitive value is so frequent that it would have to appear twice in a "
                "bucket: more than one row in l has it."
            ),
            "Use an l of at most what the message says.",
        ),
        (
            "No l is possible, because one value is in more than half of the rows.",
            (
                "Ask for `distinct-l` buckets, which may hold a value several times, or for "
                "another privacy model."
            ),
        ),
    ),
    "R016": (
        (
            (
                "The policy asks for an audit of single rows (`pe:recordLinkage`, "
                "`pe:attributeInference`, `pe:populationRisk`), and a pseudonym is that of several."
            ),
            (
                "Drop the column by naming it under `mosaicrown:identifier`, or give data with one "
                "row of each person."
            ),
        ),
    ),
    "R017": (
        (
            "Some rows have no label, or no prediction in the column that `pe:guide` names.",
            "Fill them in, or leave these rows out: every row is classed by its prediction.",
        ),
        (
            "The label, or the column of predicted classes, has more than 50 classes.",
            "Group them, name another column, or give predictions as numbers.",
        ),
        ("A label or a prediction is infinite.", "Give finite numbers."),
    ),
    "R018": (
        (
            (
                "A class of the label has so few rows that no model can learn it from some of them "
                "and predict the others."
            ),
            (
                "Merge rare classes, leave their rows out, ask for `pe:guideLabels` eq `hard`, or "
                "give predictions in a column."
            ),
        ),
        (
            "The label holds quantities, and `pe:guide` names a classifier.",
            "Leave `pe:guide` out: the default is a regression then.",
        ),
        (
            "Nothing but the label is released that a model could learn from.",
            "Name quasi-identifiers, or a column of predictions as `pe:guide`.",
        ),
        (
            "On Spark, a model would learn from more rows than the driver is to hold.",
            "Name a column of predictions as `pe:guide`, or give a larger `most_linked`.",
        ),
    ),
    "R019": (
        (
            (
                "Rows were to be classed by a tree that was cut for other rows, as the published "
                "40/40 protocol does: classes of k rows there have fewer here."
            ),
            "Cut the tree for the rows that it divides.",
        ),
    ),
    "W005": (
        (
            (
                "The policy asks for `masking` and for no privacy model. Each column is masked as "
                "asked, but nothing limits what a row reveals about a person."
            ),
            (
                "Add a model, for example `isAllOf` `masking` and `k-anonymity`, or the duty "
                "`pe:recordLinkage` or `pe:populationRisk` to a permission on the output, which is "
                "then attacked before it is released; or accept the warning where masking was "
                "judged sufficient by other means."
            ),
        ),
    ),
    "W006": (
        (
            (
                "With `pe:missing` `wildcard`, a suppressed cell matches any value. k then counts "
                "rows that could be the same, and one row counts for several classes."
            ),
            (
                "Omit `pe:missing`: a missing value is then a value of its own, at the price of "
                "more suppressed cells."
            ),
        ),
    ),
    "W007": (
        (
            (
                "Bucketization publishes quasi-identifiers exactly. Whoever knows those of a "
                "person sees whether that person is in the table, and in which bucket."
            ),
            (
                "Ask for classes, by generalisation or microaggregation, if presence is not to be "
                "known."
            ),
        ),
    ),
    "W008": (
        (
            (
                "`pe:sdShare` or `pe:varianceShare` is 1 or more, so there is at least as much "
                "noise as signal. Usually a percentage was meant: 10 is 1000%."
            ),
            "Write 10% as 0.1. If so much noise is intended, ignore the warning.",
        ),
    ),
    "W009": (
        (
            (
                "An audit such as `pe:recordLinkage` is an obligation, a remedy or a consequence. "
                "The engine audits an output for a permission on it, before anybody may use it."
            ),
            "Make the audit the duty of a permission on the output.",
        ),
    ),
    "W010": (
        (
            (
                "`pe:over` is misspelt, or names a column or an output. What is charged is the "
                "dataset that a permission has as its target, and all that this is part of."
            ),
            "Name that dataset.",
        ),
        (
            "The policy holds the budget, and others have the rules.",
            "Ignore the warning.",
        ),
    ),
    "W011": (
        (
            (
                "The policy has no `pe:budget` over the dataset, or over something that it is part "
                "of, and the permission no constraint on `pe:spentEpsilon`."
            ),
            "Add one of them: what several releases and queries tell adds up.",
        ),
        (
            "Another policy that is always in force has the budget.",
            "Leave it: budgets hold whichever policy allows a release.",
        ),
    ),
    "W012": (
        (
            (
                "The epsilon of the permission is larger than that of a budget over its dataset, "
                "or over a part or a whole of it. Queries for less are answered, the release never."
            ),
            "Give the permission a smaller epsilon, or the budget a larger one.",
        ),
        (
            (
                "The permission has a `pe:delta`, for keys that are selected or for Gaussian "
                "noise, and the budget has none, or less."
            ),
            (
                "Give the budget a `pe:delta`. Or do without: with public keys (`pe:keys`) and "
                "the mechanism `discrete-laplace`."
            ),
        ),
    ),
    "W013": (
        (
            (
                "Accuracy-guided classes (`pe:algorithm` `accuracy-guided`) are those in which a "
                "model's predictions of the label are alike. Whoever knows the class of a person "
                "often knows the label then. It counts as sensitive unless it is named under "
                "`pe:insensitive`, and `k-anonymity` says nothing of it."
            ),
            (
                "Ask for a model of sensitive values beside it, for example `isAllOf` "
                "`k-anonymity` and `l-diversity`. Or name the label as insensitive, if everybody "
                "may know it. The certificate says how much classes tell of it (`label_figures`)."
            ),
        ),
    ),
}
"""The causes of a code, each with its remedy, in Markdown."""
