"""What to do about each error code; those with several causes are in `error_causes`."""

from typing import Final

REMEDIES: Final = {
    "J001": (
        "Look at the place that is named: a comma or a quotation mark is missing or "
        "too many just before it. `#` and `//` begin no comments in JSON; the short "
        "form in YAML has comments."
    ),
    "J002": "Keep one of the two. JSON would silently take the last.",
    "J003": ("Raise the limit that is named with `--limit NAME=NUMBER` if you trust the text."),
    "J004": "Save the file as UTF-8; most editors offer it beside the file's name.",
    "F001": (
        "Correct the text at its place, or say which format it is in by its ending: "
        "`.ttl`, `.nt`, `.rdf`, `.jsonld`."
    ),
    "F002": (
        "Choose another format; JSON-LD can say everything. The message names what "
        "the other one cannot."
    ),
    "L001": ("Give a local copy of the context with `--context URL=FILE`. Nothing is fetched."),
    "L002": (
        "Correct the key; the nearest known one is suggested. For a term of your own, "
        "use a prefix that you declare, or a vocabulary (`--vocabulary`)."
    ),
    "L003": (
        "Compare the place that is named with an example of [the policy "
        "language](policy-language.md)."
    ),
    "L004": (
        "Say it without the keyword: policies need only `@context`, `@id`, `@type`, "
        "`@value` and `@list`."
    ),
    "L005": (
        "Keep prefixes and new terms in the context, and nothing else: what terms of "
        "the language mean is not yours to change."
    ),
    "L006": (
        "Write the whole IRI, or declare a prefix. In the short form, `namespace` completes names."
    ),
    "L007": "Declare the prefix in `@context`, or correct it if it is misspelt.",
    "P001": "Give the text a type: `Set`, `Offer` or `Agreement`.",
    "P002": 'Add `"uid"`, an IRI of your own. Nothing has to be at that address.',
    "P003": "Add a permission, a prohibition or an obligation.",
    "P004": "Add the part that is named. A permission needs a target and an action.",
    "P005": (
        "Correct the term; the nearest known one is suggested. For your own, give a "
        "vocabulary (`--vocabulary`)."
    ),
    "P006": (
        "Say it with other terms. What is not evaluated is refused, for if it were "
        "ignored, more would be permitted than you meant."
    ),
    "P007": "Write a value of the kind that is named.",
    "P008": "Give one of the two rules another `uid`.",
    "P009": "Remove the profile, or name one that is known: the message lists them.",
    "P010": ("Narrow one of the two rules, or say which wins by `conflict`: `perm` or `prohibit`."),
    "P011": (
        "Give the policy that it inherits from with `--parent`; no policy may inherit "
        "from itself, not even through others."
    ),
    "P012": "Use the newer policy, which the message names.",
    "P013": "Move the part to where it may stand: the message says where that is.",
    "P014": (
        "Give the logical constraint a list of at least two constraints under one of "
        "`and`, `or`, `xone`, `andSequence`."
    ),
    "P015": "Give the collection a `source`, and no `uid` of its own if it is refined.",
    "P016": (
        "Say which action yours is `includedIn`; every action is part of `use` or of `transfer`."
    ),
    "P017": "Name an assignee of the obligation, or of the whole policy.",
    "P018": "Let the vocabulary define terms of its own, and change none of the language.",
    "P019": (
        "Name the output in a namespace of your own, and let each output be made by one policy."
    ),
    "P020": (
        "Correct the registry as the message says, so that it lists every policy of "
        "its folder once."
    ),
    "P021": "Give an Offer, and a party that it is made to.",
    "P022": "Write `pe:derived` with `eq` and `exempt`, in a prohibition.",
    "P023": (
        "Complete the table or the budget: [differential "
        "privacy](differential-privacy.md) has examples of both."
    ),
    "P024": "Let the owner issue the rule, or correct the file of owners.",
    "P025": "Name the party as assigner who publishes the policy.",
    "M001": "Choose a method that is listed by `policy-engine methods`.",
    "M002": "Add the parameter that is named; `policy-engine methods NAME` lists them.",
    "M003": "Choose a value within the range that is named.",
    "M004": "Remove the parameter, or choose the method that has it.",
    "M005": "Decide which role the column has: one of the two is meant.",
    "M006": "Name columns of the target, by its IRI, `/` and the column's name.",
    "M007": "Let the rule have one action that transforms, and one output.",
    "M008": ("Remove the prohibition, or narrow it so that it does not cover the transformation."),
    "M009": "Run on the engine that has it, or leave it out: the message says which.",
    "M010": (
        "Bound rows in a rule that reads, not in one that transforms; or make the "
        "selection first, as an output of its own."
    ),
    "M011": (
        "Choose a bound between what guessing reaches and what is possible; the "
        "message says where these are."
    ),
    "M012": ("Complete the training as the message says: a label, a model, an audit as a duty."),
    "M013": ("Complete the audit as the message says: which attacks, of what, with which bounds."),
    "M014": "Let the owner of the data issue the policy, or be named as its assigner.",
    "M015": "Train in the policy that anonymises the data, or leave the column out.",
    "M016": (
        "State the join with one key on either side, of datasets that do not contain "
        "each other; what is supported is in [the policy "
        "language](policy-language.md)."
    ),
    "M017": ("Ask for at least the guarantee that the owner requires; the message names it."),
    "M018": (
        "Complete the release as the message says: bounds of contributions, a budget, "
        "the unit of privacy."
    ),
    "C001": "Give the data with `--data IRI=PATH`, by the IRI that the policy uses.",
    "C002": "Correct the path. It is looked for from the folder that you are in.",
    "C003": "Look whether the file is damaged, encrypted, or not yours to read.",
    "C004": (
        "Use a format that is read, or name the file by the ending of its format; the "
        "message lists them."
    ),
    "C005": (
        "Correct the column's name in the policy; case counts. The nearest name is suggested."
    ),
    "C006": "Rename one of the columns.",
    "C007": (
        "Look at the line that is named: often a separator or a quotation mark stands in a cell."
    ),
    "C008": "Save the file as UTF-8, or say its encoding: `--encoding windows-1252`.",
    "C009": (
        "Convert the column to numbers, texts, dates or truth values, or leave it out "
        "of the policy."
    ),
    "C010": (
        "Look at the beginning of the file: one header, then one row a line. "
        "`--delimiter` says what is between cells."
    ),
    "C011": "Install the package that is named; the message has the command.",
    "C012": ("Put the taxonomy's file beside the policy, or give it with `--taxonomy NAME=FILE`."),
    "C013": (
        "Make a key of at least 32 random bytes, keep it secret, and give it with the "
        "option that is named."
    ),
    "C014": (
        "Give the files of one table the same columns; of a release by buckets, give "
        "one of its two files."
    ),
    "C015": ("Rename the column: readers could confuse two names that look alike."),
    "C016": (
        "Correct the file of keys, so that it has the columns of the groups and each key once."
    ),
    "C017": "Give the folder as it was released, with all its files unchanged.",
    "C018": (
        "Get the bundle again from where it was made, and compare its digest with the "
        "one that you expect."
    ),
    "C019": (
        "Look at the address, the table's name and the rights to read it; the message "
        "says what was answered."
    ),
    "C020": ("Correct the catalog at its place: [where data may be](data.md) has an example."),
    "T001": (
        "Correct the file: a CSV has one row for each value, from narrow to wide; "
        "JSON and Turtle are trees."
    ),
    "T002": "Add values, or leave the taxonomy out.",
    "T003": "Merge rare values before you build the taxonomy.",
    "T004": "Give every row as many levels as the first.",
    "T005": "Give the level a name, or leave it out.",
    "T006": "Keep one of the rows.",
    "T007": (
        "Let the generalised value have one parent; rename one of the two if they are different."
    ),
    "T008": "Break the circle: of two values, one is wider.",
    "T009": "Give the concept a `prefLabel` or a `notation`.",
    "T010": "Add the label to the taxonomy, or correct it.",
    "T011": "Give the column's taxonomy, or generalise it otherwise.",
    "T012": "Correct those that are shown, and try again.",
    "R001": (
        "Look why the table has no rows: a filter that leaves nothing, or a file with "
        "a header alone."
    ),
    "R002": "Get more rows, or ask for a smaller k.",
    "R003": ("Ask for less: no way to form classes can hold a bound that all rows together break."),
    "R004": "Remove or correct the value, or give the column a taxonomy.",
    "R005": "Give the column a taxonomy or a prefix, or generalise it to ranges.",
    "R006": "Choose another generalization for the column, or correct its values.",
    "R007": ("Add the values to the taxonomy, or set `pe:unlisted` to what is to become of them."),
    "R008": ("Drop the identifier, or name it as `pe:privacyUnit`, so that persons are counted."),
    "R009": (
        "Allow more suppression, ask for a smaller k, or give the column a taxonomy "
        "with more levels."
    ),
    "R010": (
        "Give taxonomies fewer levels, or let `--time-limit` end the search with the "
        "best that was found."
    ),
    "R011": (
        "Name fewer known columns, or give the executors and the driver more memory; "
        "[scaling](scaling.md) says how much."
    ),
    "R012": (
        "Join by a column that identifies rows in one of the tables, and whose values "
        "are of one type in both."
    ),
    "R020": ("Give every row of a person the same quasi-identifiers, or keep one row of each."),
    "S001": (
        "Install what is named. The extra is `pip install 'policy-engine[spark]'`; "
        "Java comes from your system."
    ),
    "S002": "Install Java 17 or later, and set `JAVA_HOME` to it.",
    "S003": "Look at the master's address, and whether it is up and reached from here.",
    "S004": "Install this package on the executors, in the version that the driver has.",
    "S005": (
        "Read the executor's log that the message quotes: most often the memory was not enough."
    ),
    "O001": "Give another path, or `--overwrite`.",
    "O002": "Look at the rights of the folder and the space on the disk.",
    "O003": "Draw fewer policies at once, or choose another format.",
    "V001": (
        "Do not release the file. If the engine made it, that is a bug: please report "
        "it. If another tool did, the class that is named shows what it missed."
    ),
    "V002": "Leave out the columns that the policy does not release, or name them in it.",
    "V003": ("Compare the row counts: something filtered, duplicated or dropped rows on the way."),
    "V004": "Use the file that was certified, or certify the changed one anew.",
    "V005": "Get the certificate again from where the release was made.",
    "V006": "Give the input with `--data`: what was masked can only be judged beside it.",
    "V007": (
        "Train with fewer parameters, more records or differential privacy; or accept "
        "a higher bound, and say so in the policy."
    ),
    "V008": "Use the record that was written with this certificate.",
    "V009": ("Use the input that the release was made from: not a corrected or sorted copy."),
    "V010": (
        "Make the release again with `--overwrite`; what lies there was left by a run "
        "that was stopped."
    ),
    "V011": ("Choose a model whose files hold less: the message names the part that reveals."),
    "V012": "Attest only what no engine can certify: outputs of `derive` and `aggregate`.",
    "V013": "Give the release as it was certified, with its own certificate.",
    "V014": "Make the release again under the policy as it is now.",
    "V015": "Name the certificate that you mean, or keep one in the folder.",
    "V016": (
        "Make the release with `apply`. `certify` tells that bounds hold, not how the "
        "file came about."
    ),
    "V017": "Let a rule permit somebody to read the output.",
    "V018": ("Certify again: file and certificate no longer belong together, or one was edited."),
    "V019": (
        "Mask more strongly, release fewer columns or rows, or accept a higher bound, "
        "and say so in the policy."
    ),
    "D001": "Write a whole IRI, or a short name that the policies know.",
    "D002": "Give one policy another uid, or give only the newer one.",
    "D003": (
        "Correct the request or the world at its place; "
        "[decisions](policy-language.md#decisions) has examples."
    ),
    "D004": "Correct the file of owners: `{asset: party}`, each asset once.",
    "D005": "Leave the counts out of the state of the world, or decide without the log.",
    "D006": "Name the duty by its uid, and its policy with `--of`.",
    "D007": (
        "Ask whoever owns the data for a permission, or act as the party who has it; "
        "the message names the nearest rule."
    ),
    "D008": "Name the party that the duty is of.",
    "G001": "Look at the path and its ending: `.jsonl` or `.sqlite`.",
    "G002": (
        "Do not go on with this log before you know who changed it. Compare it with a "
        "head or a copy that was kept elsewhere."
    ),
    "B001": "Look at the path and at the rights to it.",
    "B002": "Wait until the other process has finished, and try again.",
    "B003": "Get the right to write it: a release has to be charged before it is made.",
    "B004": (
        "Stop spending. Compare with a head or a copy that was kept elsewhere: what "
        "was spent is no longer known."
    ),
    "Y001": (
        "Give the file of a key as `policy-engine key new` makes it, or `env:NAME`, "
        "`fd:NUMBER` or a URI `pkcs11:...` of one. The PIN of a token is read from where "
        "`pin-source` says, or from POLICY_ENGINE_PIN."
    ),
    "Y002": (
        "If anybody else has an account on the machine, take the key for known: revoke it "
        "and make another. Otherwise `chmod 600` its file."
    ),
    "Y003": (
        "Copy the name as `policy-engine key show KEY --public` prints it. Only Ed25519 keys "
        "that their names hold are known; nothing is fetched."
    ),
    "Y004": (
        "Whole numbers beyond 53 bits mean different things to different readers of JSON, "
        "and are not signed: make them smaller in the policy, or write them as text."
    ),
    "Y005": (
        "Ask for the document as it was signed. What was signed by other software needs one "
        "proof of the cryptosuite `eddsa-jcs-2022` by a `did:key`."
    ),
    "Y006": "Do not rely on it. Ask who signed it for the document as it was signed.",
    "Y007": (
        "If the clock of this machine or of the signer's is wrong, set it. A document that "
        "is not valid any more has to be signed again by its issuer."
    ),
    "Y008": (
        "Correct everything that is listed. Until then nothing is trusted: a trust file that "
        "is understood in part would trust in part."
    ),
    "Y009": (
        "Have it signed by somebody whom the trust file names for it (`apply --sign`, "
        "`sign POLICY`), or name the key there, once you know whose it is."
    ),
    "Y010": (
        "Ask for a certificate that another key signed. If the key was revoked by mistake, "
        "whoever keeps the trust file takes it out of `revoked`."
    ),
    "Y011": (
        "Compare with the policy as it was signed: `policy-engine diff`. Give the same "
        "parents, vocabularies and contexts as who signed it. If it may change, sign it again."
    ),
    "Y012": "Put the output beside its certificate, under the name that it was released with.",
    "Y013": "Give the key of whoever vouches for what was measured: `--sign KEY`.",
    "Y014": (
        "Give the list that the certificate names, signed by who signed the certificate: "
        "`--status FILE`. To withdraw without a list, leave `--status-list` out."
    ),
    "N022": (
        "Start the run again. If that comes again, somebody can write into the folder of runs, or "
        "what the run reads is not what it seems: tell the operator."
    ),
    "Y015": "Nobody may read it. Ask its owner for a newer release.",
    "B005": "Give the key that the ledger was begun with, `--ledger-key`.",
    "B006": "Give the file that the ledger is in; a new one is made where there is none.",
    "B007": "Use the version of this package that wrote it, or a later one.",
    "B008": ("Charge less at once, or in fewer entries: the message says what does not fit."),
    "B009": (
        "Ask for a larger epsilon budget, spend less on this release, or do without "
        "it: what was spent does not come back."
    ),
    "B010": (
        "Wait for the other run; if it was stopped, the message says how to settle "
        "what it reserved."
    ),
    "B011": "Reserve anew, by making the release again.",
    "B012": "Use the unit of privacy that the dataset's budget has.",
    "B013": (
        "Look at the figures: `plan --data --ledger` says how many persons each earlier release "
        "leaves too few candidates. Ask for the same quasi-identifiers, a larger k or mondrian, "
        "which forms classes jointly; or let the policy say `independent`, if each release is to "
        "hold by itself alone."
    ),
    "B014": (
        "Give the ledger in which every release of these data is recorded, as `--ledger FILE`: "
        "without it nobody knows what was released before."
    ),
    "Q001": ("Correct the SQL at the place that is named, or say its dialect with `--dialect`."),
    "Q002": "Ask with one `SELECT`. Statements that change something are never run.",
    "Q003": ("Give the table with `--data`, or call it as listed: by the last segment of its IRI."),
    "Q004": "Correct the column, or put the table's name before it.",
    "Q005": "Ask in simpler SQL: what is not understood could read anything.",
    "Q006": (
        "Ask for what the message says would be permitted: fewer columns, another "
        "purpose, or the release."
    ),
    "Q007": "Use a constraint that compares a column with a value.",
    "Q008": (
        "Look at the values that the message is about: a text that is no number, a division by 0."
    ),
    "Q009": "Ask for each table by itself, or let one rule cover the rows of all of them.",
    "Q010": (
        "Ask for counts, sums or means with `GROUP BY` of listed keys; [interactive "
        "queries](differential-privacy.md#interactive-queries) says which."
    ),
    "Q011": "Ask for less, or raise `--memory` or `--seconds`.",
    "Q012": "Ask again: somebody, or the end of the process, ended it.",
    "A001": (
        "Get more records of the class, merge it with another, or do without attacks "
        "that train shadow models."
    ),
    "A002": "Name the column that has the classes: between two and some hundreds of them.",
    "A003": (
        "Convert features to numbers, or give a pipeline that encodes them; name the "
        "columns with `--features`."
    ),
    "A004": "Let the model answer with probabilities, or say `--outputs logits`.",
    "A005": (
        "Leave the attack out, or give what it needs: `--retrain`, `--reference`, "
        "labels or a population."
    ),
    "A006": "Ask for a larger epsilon, or train on more records or for fewer epochs.",
    "A007": "Ask for more shadow models, `--shadows`.",
    "A008": ("Audit fewer records, fewer shadow models at once, or on a machine with more memory."),
    "A009": (
        "Give an object with `fit` and `predict`, or correct the description: "
        "[audits](audits.md) has one of each kind of model."
    ),
    "A010": "Replace the layer, such as batch normalisation by group normalisation.",
    "A011": (
        "Give at least two records of each kind in one class, and a column that says "
        "which are members."
    ),
    "A012": "Choose one that the message lists.",
    "A013": "Use a smaller learning rate, or other settings: the loss became infinite.",
    "A014": (
        "Save the model in a format that is listed, with the library's version that is installed."
    ),
    "A015": (
        "Save the model as skops, ONNX or `.keras`; if you trust whoever made the "
        "file, `--trust-pickle`."
    ),
    "A016": (
        "Run the model by itself first. The message says how its process ended; "
        "`--time-limit` gives it longer."
    ),
    "A017": "Choose a model that skops, XGBoost, LightGBM or Keras can save.",
    "A018": "Start again: with `--out`, what was measured so far is kept.",
    "A019": (
        "Find out who changed the folder of attempts; without it nobody knows how many were made."
    ),
    "A020": (
        "Give other records. Do not try again with other seeds: choosing the luckiest "
        "of many is what the limit prevents."
    ),
    "A021": "Give more records, or accept a higher bound.",
    "A022": "Leave the feature out.",
    "A023": "Name the columns that match rows, `--match`, or say `--same-order`.",
    "A024": (
        "Give the population that the release was drawn from, with the same columns, "
        "before they were changed."
    ),
    "A025": ("Correct the weights: each at least 1, as a record stands for itself at least."),
    "A026": "Ask for fewer generators, or train on more records with larger leaves.",
    "A027": "Say how cells are to be read, or write ranges as `[20 - 29]`.",
    "A028": "Take out of the holdout whoever is in the original.",
    "A029": "Divide one table at random, or allow the shift: `--allow-shift`.",
    "A030": "Divide persons, not records, so that nobody is on both sides.",
    "A031": "Give synthetic records the columns and types of the members.",
    "A032": (
        "Look at what the generator returns: as many rows as asked, with numbers that are finite."
    ),
    "A033": "Give more time, or fewer records.",
    "A034": "Give models that differ, each fitted on its own records and seed.",
    "A035": (
        "Choose another column as the secret: one that varies and that the model does "
        "not get as its label."
    ),
    "H001": (
        'Add `"profile"` with the IRI that is named. It changes nothing but what readers can see.'
    ),
    "H002": "Add `pe:privacyUnit`, unless each row is of another person.",
    "W001": "Add a rule about the output, if others than who made it are to read it.",
    "W003": "Let the owner issue the rule, or remove it.",
    "W004": ("Let the rule name the other asset as well, or forbid that they are read together."),
    "K001": (
        "Correct the file at its place; [tests of a "
        "policy](policy-language.md#tests-of-a-policy) has one."
    ),
    "K002": "Ask for larger groups: merge categories, or leave a condition out.",
    "K003": "Merge the group with others, or show fewer categories.",
    "K004": "Merge the group with others, so that one unit no longer dominates it.",
    "K005": "Merge the group with others, so that two units no longer dominate it.",
    "K006": (
        "Merge the group with others, or round more coarsely: the second largest "
        "could compute the largest."
    ),
    "K007": "Explain to the checker why it tells of nobody: no rule can decide.",
    "K008": "Ask for a percentile instead, such as the 5th or the 95th.",
    "K009": "Ask for a percentile nearer to the middle, or for larger groups.",
    "K010": "Fit fewer variables, or on more units.",
    "K011": "Leave the correlation out: it gives one column away by the other.",
    "K012": "Leave the mode out, or ask for a group that is more mixed.",
    "K013": "Fit fewer interactions: a saturated model is a table of means.",
    "K014": "Leave out the total, or a second cell, so that it cannot be computed.",
    "K015": "Ask for the table without the cells that fail, or coarser.",
    "K016": "Give what the message names, such as the number of units of each cell.",
    "K017": (
        "Write it as the message says: what cannot be checked cannot be answered. "
        "Moments are written out, and conditions compare columns with values."
    ),
    "K018": "Use counts, sums, means, medians, variances or deviations.",
    "K019": "Let the rows keep the unit of privacy: join by it, or name its column.",
    "K020": ("Choose a profile with a threshold for such figures, or set one in the policy."),
    "K021": "Ask a checker; `--review DIR` writes what they need.",
    "K022": "Look at the values that the query computes with.",
    "K023": "Give `--ledger FILE`; it is made if there is none.",
    "K024": "Ask for aggregates with `GROUP BY`.",
    "K025": (
        "Correct what the message names: an output has to be of known columns, units and groups."
    ),
    "K026": "Correct the totals, or leave them out.",
    "K027": (
        "Use the folder as it was written. If nobody should have changed it, find out who did."
    ),
    "K028": ("Let a checker decide first; if the data or the answer changed, submit it again."),
    "K029": "Correct the recipe (`--by`, `--measure`), or the table.",
    "K030": "Look at the path and at the rights to it.",
    "K031": "Wait until the other process has finished, and try again.",
    "K032": "Get the right to write it: an answer is recorded before it is given.",
    "K033": "Stop answering. Compare with a head or a copy that was kept elsewhere.",
    "K034": "Give the key that the ledger was begun with, `--ledger-key`.",
    "K035": "Give the file that the ledger is in; a new one is made where there is none.",
    "K036": "Use the version of this package that wrote it, or a later one.",
    "K037": (
        "Ask about one dataset, in figures that the ledger compares; the message says "
        "which it cannot."
    ),
    "K040": "Ask for larger groups.",
    "K041": (
        "Ask the earlier question again, or one whose groups are made of the same larger parts."
    ),
    "K042": "Leave out one of the two cells, or make both coarser.",
    "K043": "Ask for fewer figures of these groups, or for those that were released.",
    "K044": "Leave out the total, or ask for the groups that were released.",
    "K045": "Ask for fewer figures of these groups, or for rounded ones.",
    "K046": "Ask for fewer cells at once, or let a checker decide, `--review`.",
    "K047": (
        "Ask about the data that earlier answers were about, or let a checker decide, `--review`."
    ),
    "K048": (
        "Give columns that are summed a smallest and a largest value, ask for fewer cells or none "
        "that are totals, or let a checker decide."
    ),
    "K049": ("Nothing to mend: the rest of the table may leave. Coarser groups lose fewer cells."),
    "K050": "Ask for the statistic that was released.",
    "K051": "Ask again once nobody writes the data.",
    "N001": "Sign in, or send a key.",
    "N002": "Ask an administrator for the role that is named.",
    "N003": ("Correct the address. What you may not know of looks the same as what is not there."),
    "N004": (
        "Do first what the message names, or load the page again: somebody may have "
        "acted meanwhile."
    ),
    "N005": "Load the newest version, and make your change in it.",
    "N006": "Wait as long as `Retry-After` says.",
    "N007": (
        "Correct the body at the place that is named; `/api/v1/openapi.json` says what is expected."
    ),
    "N008": "Send less, or in parts; whoever runs the service can raise the limit.",
    "N009": ("Send the call from the service's own pages, or with a key in place of a cookie."),
    "N010": "Ask for a new link, or sign in again.",
    "N011": "Use a new key for each call; repeat one only for the same call.",
    "N012": "Correct the setting that is named, and start again.",
    "N013": "Look at the rights, the space and the address of what is named.",
    "N020": (
        "Read the run's log; if nothing of yours is wrong in it, tell whoever runs the service."
    ),
    "N021": "Ask for less, or have the limit raised; the message names it.",
    "U001": "Correct the option; `policy-engine COMMAND --help` lists them.",
    "U002": "Give a value of the type that is named.",
    "X001": (
        "Please report it, with what `POLICY_ENGINE_DEBUG=1` prints. Look first "
        "whether that shows data of yours."
    ),
}
"""What to do, by code."""
