"""What errors look like, where no policy in tests/policies/bad shows it."""

from typing import Final

MESSAGES: Final = {
    "J003": "The text is too large. It has 4,016,017 bytes. 4,000,000 are allowed.",
    "J004": "The text is not UTF-8. It has the byte 0xff here.",
    "F001": "The text is not well-formed XML: unclosed token.",
    "F002": (
        "The IRI 'odrl:read' cannot be written in JSON-LD: 'odrl' is a prefix. Give "
        "it another scheme."
    ),
    "P018": (
        "The vocabulary defines nothing. An action, a left operand, a purpose, a "
        "party, an asset or a profile may be defined."
    ),
    "P019": (
        "The output 'http://e.org/Visits/Diagnosis' of urn:policy:http://e.org/I lies "
        "within 'http://e.org/Visits', a target of urn:reads. Name the output in a "
        "namespace of its policy's own, or say who owns it: owners=FILE."
    ),
    "P020": (
        "The registry does not name the file 'inner/lost.jsonld', which is beside it. "
        "Give it an entry, with the status it has, or move it away."
    ),
    "P021": (
        "The offer 'http://e.org/offer' is not to 'http://e.org/Ann'. It is to "
        "'http://e.org/Research'. Say who belongs to whom by a hierarchy, if it is."
    ),
    "P024": (
        "urn:permission is not to be published: http://e.org/I does not own "
        "http://e.org/Visits. Register the dataset as yours first, or ask its owner "
        "for consent."
    ),
    "P025": (
        "The policy is published by http://e.org/I, but its assigner is "
        "http://e.org/H. Leave the assigner out."
    ),
    "M009": (
        "The spark engine has no method 'membership-inference'. Instead, run it on "
        "the local engine."
    ),
    "M014": (
        "http://example.com/joint#make does not count: http://example.com/University "
        "does not own http://example.com/Claims, and http://example.com/insurer#lets "
        "does not let http://example.com/University make it: http://example.com/never "
        "prohibits it."
    ),
    "M015": (
        "The column 'city' of http://x.org/anonPeople was generalised: its cells "
        "stand for several values, and are not to be predicted. Train in the policy "
        "that anonymises the data, or leave the column out."
    ),
    "M017": (
        "http://example.com/Claims/Insured is released as insensitive under the name "
        "'Key', and the owner lets it not be released. "
        "http://example.com/insurer#lets (line 1) requires this."
    ),
    "C001": (
        "No data is given for 'http://x.org/data/people'. IRIs are compared letter by "
        "letter. Did you mean 'http://x.org/data/People', or something in it?"
    ),
    "C002": "There is no file 'absent.ttl'.",
    "C003": "The file cannot be read: its name is not allowed or its bytes are damaged.",
    "C004": (
        "The ending of 'out.xlsx' is not known. Known are '.csv', '.csv.gz', "
        "'.parquet', '.npy' and '.npz'."
    ),
    "C005": (
        "http://example.com/Customer has no column 'Birthdate'. Did you mean "
        "'BirthDate', http://example.com/Customer/BirthDate?"
    ),
    "C006": (
        "Column names must be unique. Columns 2, 3 share theirs with others. Does the "
        "file have a header?"
    ),
    "C007": "Line 7 has 4 cells. The header has 3.",
    "C008": "Line 3 is not UTF-8. Name its encoding: CsvFormat(encoding=NAME).",
    "C009": (
        "The column 'x' is of type list<item: int64>, which has no order that a cell "
        "could show. Allowed are numbers, texts, truth values, dates and times."
    ),
    "C010": (
        "Line 7: A quoted cell is not closed. Write a cell with double quotes in double "
        "quotes, and each of its own twice."
    ),
    "C011": "matplotlib is not installed. pip install 'policy-engine[utility]'.",
    "C012": "No taxonomy is given for 'job.csv'. Give taxonomies={NAME: FILE}.",
    "C013": (
        "The output ledger is chained with a key, but no key was given. Give the key "
        "that the output ledger is chained with."
    ),
    "C014": (
        "'out/anonPeople.csv' is a release by buckets: two tables that nothing joins "
        "row by row. Requests and queries read it. Give one of its files to read that "
        "as a table."
    ),
    "C015": (
        "The names of columns 1 and 2 differ only in case, in blanks around them or "
        "in the form of their accents. Rename one of them."
    ),
    "C016": (
        "The keys of groups cannot be read: a key is given twice. Give a CSV file "
        "with a column for each that is grouped by."
    ),
    "C017": (
        "The files are not those of a generator (ValueError). Get them anew from "
        "whoever released them."
    ),
    "C018": (
        "The bundle's sha-256 is "
        "c115a3b1e63845e39015990ade30e9bd221a61e650b426aa621733f051170346. Asked for "
        "was '0000000000000000000000000000000000000000000000000000000000000000'."
    ),
    "C019": (
        "The database has no table 'peple' that may be read. It has 'main.people'. "
        "Did you mean 'people'?"
    ),
    "C020": (
        'The context is a mapping of prefixes to namespaces. Write {"dcat": '
        '"http://www.w3.org/ns/dcat#", "csvw": "http://www.w3.org/ns/csvw#"}.'
    ),
    "T001": (
        "The value at '/subcats/0' is not a category: 3. A category is {\"cat\": label, "
        '"subcats": null, a category, or a list of categories}.'
    ),
    "T002": "The text holds no SKOS concept.",
    "T003": "The text has too many values. 8,000,000 are allowed.",
    "T004": ("The row has 1 levels. Most rows have 2. Every row has a cell for every level."),
    "T005": "The label at level 1 of 'p' is empty.",
    "T006": "The value 'a' appears twice, first in line 1.",
    "T007": (
        "'x' at level 1 becomes 'q' at level 2, but 'p' in line 1. A label has one parent only."
    ),
    "T008": "Each of these concepts is broader than itself: 'http://example.com/b'.",
    "T009": (
        "The concept '_:b0' has neither a name nor an IRI that ends in one. Give it a "
        "skos:notation or a skos:prefLabel."
    ),
    "T010": "No node has the label 'Othr'. Did you mean 'Other'?",
    "T011": (
        "The column 'age' is generalised by a taxonomy, and none is given. Give the text of one."
    ),
    "T012": "Reading stopped at 100 problems. There may be more.",
    "T013": "The probabilities of the row sum to 0.9, not to 1.",
    "R001": "The table has no rows.",
    "R002": "The table has 6 rows, fewer than k, which is 7.",
    "R003": "l of 'ill' is 2. The table as a whole reaches 1, below that.",
    "R004": "The column 'x' holds infinite values. A range needs finite numbers.",
    "R005": (
        "The texts of 'x' differ so much that a set would take 150,900 characters. "
        "Allowed are 100,000 in a cell. Is the column an identifier? Else leave it "
        "out, or shorten its texts."
    ),
    "R006": (
        "The column 'x' holds texts, which have no range. If its texts are numbers "
        "such as 1286,68 or dates such as 21.01.2023, correct the file: write 1286.68 "
        "and 2023-01-21. Otherwise give the column a 'set', a 'prefix' or a "
        "'taxonomy'."
    ),
    "R007": "The taxonomy of 'x' lacks 2 of its values. Add them to the taxonomy's file.",
    "R008": (
        "1 pseudonyms of 'name' are in more than one class, which links the rows of "
        "one person: the classes no longer hide them. Drop the column, or name it as "
        "privacyUnit."
    ),
    "R009": (
        "1 rows would match fewer than 2 rows. At most so many cells may be "
        "suppressed: 0 of 'sex', 0.1 of 'job'. Allow more suppression, or ask for a "
        "smaller k."
    ),
    "R010": (
        "The lattice has 60,466,176 nodes. Allowed are 20,000,000. Give fewer "
        "quasi-identifiers, or taxonomies with fewer levels."
    ),
    "R011": (
        "The table has more than 1,000,000 distinct rows in these columns. Name fewer "
        "known columns."
    ),
    "R012": (
        "http://example.com/Claims has several rows for 1 of the keys 'Insured', and "
        "so has http://example.com/Visits. Make one of them a table of one row for "
        "each key first."
    ),
    "R013": (
        "The matrix of 'vote' has categories that the type int64 of the column cannot "
        "hold. Leave them out of the matrix."
    ),
    "R014": (
        "1 of 2 strata are too small: they would get no row. The smallest has 60 "
        "rows. Sample more, or stratify by fewer columns."
    ),
    "R015": (
        "Anatomy with l 3 needs that no value of 'ill' has more than 1/3 of the rows "
        "that have one, which are 10. The most frequent, or a missing one, has 4. On "
        "this table, l can be at most 2."
    ),
    "R016": (
        "The pseudonyms of 'id' join rows of one person, which an intruder looks for "
        "all at once. The audits that the policy asks for look for single rows. Drop "
        "the column, or release one row of each person."
    ),
    "R017": (
        "1 of 8 rows have nothing in 'buys', the label. Fill it in, or leave these "
        "rows out: every row is classed by it."
    ),
    "R018": "There are 10 rows: too few to test a model on some. Give 20 or more.",
    "R019": (
        "The tree was cut for other rows. Of these, its smallest class has 1 row, "
        "fewer than k, which is 3. Cut the tree for the rows that it divides."
    ),
    "R020": (
        "4 persons of 'who' have rows with different quasi-identifiers. Whoever knows "
        "them all may tell by what else they have in common which rows are of one "
        "person: that a link has at most the probability 1/k is not shown. Give every "
        "row of a person the same quasi-identifiers, or keep one row of each."
    ),
    "S001": (
        "The program 'dot' of Graphviz is not on the path. Install Graphviz, or ask "
        "for Mermaid or DOT."
    ),
    "S002": "Java 17 or later is needed. Found: Java 11, '/usr/bin/java'.",
    "S003": (
        "No executor of the master 'spark://cluster:7077' has run a task within 60 s. "
        "Are its workers running, and do they have the requested cores and memory?"
    ),
    "S004": (
        "The executor on 'worker-3' (/usr/bin/python3) has policy_engine 0.1.0, and the "
        "driver 0.2.0. Install the same version on both."
    ),
    "S005": (
        "The cluster lost counting rows: an executor died or ran out of memory. Give "
        "the executors more memory (spark.executor.memory, "
        "spark.executor.memoryOverhead), or make the partitions smaller."
    ),
    "O001": "The output 'old.jsonld' is the input itself. Give another path.",
    "O002": "The file cannot be written: No such file or directory.",
    "O003": (
        "The picture would be too large to be of use: more than 50 lines of text. "
        "Draw fewer policies at once."
    ),
    "V001": "l of 's0' must be at least 2, but is 1 in class 0 of the output.",
    "V002": "The column 'q' holds a range whose ends are not in order.",
    "V003": "The release has 6 rows, the original 2.",
    "V004": (
        "The output is not the one that was certified: its sha-256 is "
        "15788a3d58aa1565ca60940252fc632987e35e7fb86dd6e61e130e1260e65f7f, the "
        "certified one "
        "56712e9f05db93797296af6fe7d738dbfd1476c90f2853ea42da9cc966d507c3."
    ),
    "V005": (
        "The certificate contradicts itself. 39 rows are not of a sample of 40 rows (40 rows)."
    ),
    "V006": (
        "k counts distinct 'who', a column that is not released: the output alone "
        "does not show them. Give the input as well: data={IRI: PATH}."
    ),
    "V007": (
        "auc at most 0.6 is required, but the attack nearest-sample reaches 0.767 "
        "(95% interval 0.748 to 0.785)."
    ),
    "V008": (
        "The record does not open the certificate: it is for another release, or was changed."
    ),
    "V009": (
        "The data given are not the input that the certificate commits to. That was "
        "read by the local engine from 'people.csv'."
    ),
    "V010": (
        "A release is being published into 'release', or the run doing so was killed. "
        "Try again; if that run has ended, policy-engine apply into this folder "
        "completes it."
    ),
    "V011": "The files of the model were not checked for what they reveal.",
    "V012": (
        "http://example.com/p has several outputs to attest. Allowed are "
        "'http://example.com/Totals' and 'http://example.com/Sums'. Anonymised data "
        "and trained models are certified when they are made, never attested."
    ),
    "V013": (
        "The input is not the http://x.org/anonPeople that was certified: its sha-256 "
        "is 5fc86d9159cb63fa368162effc0ab8eaa4bfe9d9587259044beb42d1e18411e2, the "
        "certified one "
        "e155db07febc6ba3822cba6823ef89ffe19f6ae7880c5e478bf50b0b2aaf5af9. Read the "
        "release as it was published, or make it again."
    ),
    "V014": (
        "It was made of a sample (40, stratified by sex, weights in 'weight'), but "
        "the policy asks for a sample (30, stratified by sex, weights in 'weight'). "
        "Make the release again: policy-engine apply."
    ),
    "V015": (
        "Several certificates name 'anonPeople.csv': "
        "'anonPeople.csv.certificate.jsonld' and 'certificate.jsonld'. Only one of "
        "them can be right. Remove the others."
    ),
    "V016": (
        "Its certificate does not say how it was made: the output was only measured. "
        "Make it with policy-engine apply, or give the certificate it was published "
        "with."
    ),
    "V017": (
        "The certificate of 'people.csv' could not be read. The text is too large. It "
        "has 4,016,017 bytes. 4,000,000 are allowed. Mask fewer columns by matrices, "
        "or shorten categories and names."
    ),
    "V018": (
        "The classes of the output are not those that are formed of the data. Give "
        "the data, and the key if there was one, that it was made with."
    ),
    "V019": ("Whether linked at most 0.5 holds for the attack value-linkage was not measured."),
    "D001": (
        "The assignee 'someone' is neither a whole IRI nor a term of the contexts. "
        "Write its whole IRI, such as 'http://example.com/assignee'."
    ),
    "D003": (
        "In the state of the world, counts.r: a count is an integer of 0 or more; given: 'x'."
    ),
    "D004": "White space is not allowed in an IRI: a blank is %20. Given: 'no iri'.",
    "D005": (
        "The state of the world gives pe:readSoFar, which comes from the log. With a "
        "log, leave the counts out of the state of the world: the log has them."
    ),
    "D006": (
        "Several have the duty 'ex:p#pay': 'http://example.com/p' and "
        "'http://example.com/q'. Say which one: of=POLICY."
    ),
    "D007": (
        "http://x.org/analyst may not odrl:anonymize http://x.org/People for "
        "mosaicrown:marketing. prohibition use age 9b59a32d55919ac8 of "
        "http://x.org/other prohibits it."
    ),
    "D008": (
        "http://example.com/p is an Offer, which obliges nobody to do "
        "http://example.com/p#pay. Give the Agreement by which it was accepted."
    ),
    "G001": "The decision log cannot be read: embedded null byte.",
    "G002": (
        "The log no longer contains entry 2. It was truncated or replaced. If that "
        "was intended, open the log again, which a service does when it is restarted; "
        "counting starts again."
    ),
    "B001": (
        "There is no budget ledger: its folder 'none' is not there. A release under a "
        "budget makes both."
    ),
    "B002": (
        "The budget ledger is locked: another process held it for 0.01 s. Try again "
        "once that process has ended."
    ),
    "B003": "The budget ledger cannot be opened: Permission denied.",
    "B004": (
        "The budget ledger is damaged: the file was truncated or changed. Restore it "
        "from a copy that has its latest head."
    ),
    "Y001": (
        "The private key cannot be read: it is not an Ed25519 private key in PEM, "
        "without a passphrase. Make one: policy-engine key new --output KEY."
    ),
    "Y002": (
        "Others may read the private key: its mode is 0644. Replace it, if somebody "
        "may have; otherwise chmod 600 the file."
    ),
    "Y003": (
        "'did:web:example.com' is not the name of an Ed25519 key, as z6Mk... or "
        "did:key:z6Mk... are."
    ),
    "Y004": (
        "The document has no canonical form: 9007199254740993 exceeds safe integer "
        "domain for JSON floats."
    ),
    "Y005": "The document is not signed as it has to be: it has not one proof.",
    "Y006": (
        "The signature is not that of the document by "
        "did:key:z6MkrJVnaZkeFzdQyMZu1cgjg7k1pZZ6pvBQ7XJPt4swbTQ2. The document was "
        "changed after it was signed, or another key signed it."
    ),
    "Y008": "At /keys/0: It has 'untill'. Did you mean 'until'?",
    "Y009": (
        "did:key:z6MkrJVnaZkeFzdQyMZu1cgjg7k1pZZ6pvBQ7XJPt4swbTQ2 may not sign "
        "certificates of http://example/anonCustomer made from "
        "http://example.com/Customer. See 'trust.json'."
    ),
    "Y010": (
        "did:key:z6MkrJVnaZkeFzdQyMZu1cgjg7k1pZZ6pvBQ7XJPt4swbTQ2 is revoked since "
        "2026-03-01T12:00:00Z. What it signed has to be signed again by another key."
    ),
    "Y011": (
        "The policy http://example.com/policy/customer does not count: it is not the "
        "one that was signed: it means something else, or is read with other things "
        "beside it."
    ),
    "Y012": (
        "The output 'anonCustomer.csv' that the certificate of "
        "http://example/anonCustomer names is not beside it. Put the output there."
    ),
    "Y013": (
        "The certificate is signed, and would be replaced by one that is not. Give the "
        "key: --sign KEY."
    ),
    "Y014": (
        "Whether http://example/anonCustomer was withdrawn is not known: its status list "
        "'https://example.com/status/1' was not given. Give it."
    ),
    "N022": (
        "The certificate of http://example/anonCustomer is not signed: its input "
        "http://example.com/Customer is not the data that the run was given."
    ),
    "Y015": "http://example/anonCustomer is withdrawn since 2026-11-30T12:00:00Z.",
    "Y007": "The document was signed in the future, at 2036-03-01T12:00:00Z. Compare the clocks.",
    "B005": (
        "The budget ledger was made with another key, or without one. Give the key "
        "that it is chained with. If that is the key, it was changed."
    ),
    "B006": ("It is not a budget ledger: the database contains more than one budget ledger."),
    "B007": ("The budget ledger was made by a newer version of the engine. Install that version."),
    "B008": (
        "The charge cannot be recorded. Its cap is renewed after '1 year', which is "
        "not a positive duration."
    ),
    "B009": ("The privacy budget of 'http://example.com/Visits' does not allow this release."),
    "B010": (
        "Another run has been making the same release for more than 0.01 s. Run it "
        "again later: its answer is then returned at no cost."
    ),
    "B011": (
        "The reservation of entry 2 is not committed and unanswered any more. It was "
        "committed, cancelled or answered, or others took its process for dead."
    ),
    "B012": (
        "The budget of http://example.com/Visits is that of its "
        "'http://example.com/Visits/patient_nbr', and this release protects its "
        "'http://example.com/Visits/row'. Name one unit of privacy in all policies on "
        "a dataset."
    ),
    "B013": (
        "The release 'http://example.com/VisitsByAge' tells too much of persons together with "
        "earlier ones of the same persons, which its policy does not allow. Ask for larger "
        "classes, or release what was released before."
    ),
    "B014": (
        "The policy bounds what 'http://example.com/VisitsByAge' tells together with earlier "
        "releases, and no ledger of them is given. Give the ledger that every release of these "
        "data is recorded in: --ledger FILE."
    ),
    "Q001": "The query cannot be parsed: '(' has no place here.",
    "Q002": ("There is no query that was answered. Give the queries, separated by semicolons."),
    "Q003": "There is no table 'anonPeople'. Given: 'quasi-identifiers' and 'sensitive'.",
    "Q004": ("Query 1: There is no column 'x' in 't'. The columns are 'age', 'city' and 'Pay'."),
    "Q005": (
        "DuckDB does not understand the query: Only SELECT statements can be serialized to json!"
    ),
    "Q006": (
        "People: the column 'age' may not be read. http://x.org/policy/f0 prohibits "
        "it. Its constraint is satisfied: pe:readSoFar is "
        "http://x.org/data/People/age and http://x.org/data/People/name, all of "
        "http://x.org/data/People/name and http://x.org/data/People/age."
    ),
    "Q007": "A constraint compares a column with '1 OR 1=1'. It needs a number.",
    "Q008": ("The query fails on a value: conversion. TRY_CAST gives NULL where CAST fails."),
    "Q009": (
        "Rows that 'http://x.org/policy/p1' permits are left out. One rule must grant "
        "everything read from 'People' and 'Visits' together; here it is "
        "'http://x.org/policy/p0'."
    ),
    "Q010": (
        "The column 'nothing' is not among those of its statistics. Allowed are: "
        "SELECT any of COUNT(DISTINCT person), COUNT(*), SUM(days), "
        "QUANTILE_CONT(days, 0.5); GROUP BY any of sex; WHERE on any of sex, days; at "
        "most epsilon 1."
    ),
    "Q011": "A limit of memory is at least 64MiB, such as 2GB or 512MiB. Given: '63MiB'.",
    "Q012": "The query was ended before it was answered.",
    "A001": (
        "The class 'yes' has only 9 of the records that the model learns from, but "
        "everything that a released model reveals must apply to 10 or more. Leave the "
        "class out, join it with another, or give more records."
    ),
    "A002": "The data has no column 'il' of labels. Did you mean 'ill'?",
    "A003": (
        "Features are missing or infinite in 1 columns: 1. Fill them in, or leave "
        "these columns out."
    ),
    "A004": (
        "1 of 4 rows hold a logit that is missing or infinite, or further than 1e+30 "
        "from 0; the first is row 2: nan, 2."
    ),
    "A005": (
        "The attack 'label-only-boundary' needs views. The model gives labels alone. "
        "Run 'label-only'."
    ),
    "A006": "The epsilon is not positive. Given: 0.0. Allowed: a number above 0.",
    "A007": "An attack by shadow models needs at least 2 of them. Given: 1.",
    "A008": (
        "The audit would need about 0.1 MiB of memory. There are 0.1 MiB, of which it "
        "may use 90%. Use fewer shadow models, fewer records, smaller batches or a "
        "smaller model."
    ),
    "A009": "A str is not a classifier. It needs 'fit' and 'predict'.",
    "A010": (
        "Layers that mix the records of a batch cannot be trained privately: 'norm' "
        "(BatchNormalization). Use layer or group normalisation instead."
    ),
    "A011": (
        "1 pairs of a member and another of its class are too few. Give at least two "
        "of each in one class."
    ),
    "A012": (
        "The attack 'nearest' is not known. Known are 'distance-linkage', "
        "'value-linkage', 'exact-linkage', 'mahalanobis-linkage', "
        "'probabilistic-linkage', 'intersection-linkage', 'likelihood-linkage', "
        "'assignment-linkage' and 'learned-distance-linkage'."
    ),
    "A013": "The loss is no longer a number in epoch 1 of 2. Lower the learning rate.",
    "A014": "The file raises ValueError when it is opened by Keras.",
    "A015": (
        "The file is a pickle: opening it runs any code that its author put in it. "
        "Save the model in a format without code, such as skops or ONNX, or say that "
        "you trust it: trust_pickle=True."
    ),
    "A016": ("The model gave no answer within 3 seconds. Allow more time: time_limit=SECONDS."),
    "A017": "The model's file holds a malformed tree.",
    "A018": (
        "The audit was cancelled. Models that were trained and kept so far are not "
        "lost. Run it again with the same folder to continue."
    ),
    "A019": (
        "The attempts kept in 'attempts' cannot be trusted: it was changed. Restore "
        "all its files: without them, no attempt can be counted."
    ),
    "A020": (
        "Rows, or their generator, were made of these records, or of most of them, "
        "and attacked once. The policy allows 1 attempt. Give other records: whatever "
        "is made up of these counts too."
    ),
    "A021": (
        "advantage at most 0.05 of 'ill' cannot be shown with 40 members: where "
        "attacks gain nothing at all, the interval of an advantage ends at 0.110. "
        "Give more records, join rare values with others, or relax the bound."
    ),
    "A022": (
        "All 119 records that the model learns from have the same features: it learns "
        "nothing, and an audit of it would show nothing. Generalise less, or name "
        "other features."
    ),
    "A023": (
        "The release has 600 rows, and the original 200: they do not belong together. "
        "Give the whole table that the release was made from, or take rows out that "
        "it adds."
    ),
    "A024": (
        "Cells of 'age' in the population cannot be read as those of the original: "
        "'forty'. The original has int64."
    ),
    "A025": (
        "The share of outputs named as unlike others cannot be 1. Give a number between 0 and 1."
    ),
    "A026": (
        "No tree can be released: no model has 2 generators without a row in common: "
        "the most found are 0. Give more records, or ask for fewer generators."
    ),
    "A027": (
        "1 cell of 'age' in the release is neither a number nor a range, such as "
        "'abc'. The original has nothing else. Correct the cells, or name known "
        "columns without this one."
    ),
    "A028": (
        "7 persons of the holdout are in the original: equal there in 'row' and in "
        "all known columns. Give persons who were never in the original."
    ),
    "A029": (
        "Members and holdout are of two distributions: a classifier that has seen no "
        "synthetic record tells them apart with an area of 0.889 under the ROC curve "
        "(0.859 to 0.913), so attacks would measure that. Draw both at random from "
        "one table, or allow the shift: --allow-shift."
    ),
    "A030": (
        "50 persons of those who are of the holdout are members, too. Divide persons, "
        "not records: whoever is on both sides is counted as both."
    ),
    "A031": (
        "Nothing is given that the generator made. Give synthetic records, or a model, or both."
    ),
    "A032": (
        "The model raises ValueError as it samples. It has a method sample(n, *, "
        "label=None, seed), which returns n records."
    ),
    "A033": "5e-10 s ended after 0 of 500 samples. Allow more time.",
    "A034": "The generator sequential-trees makes tables, and the files are arrays.",
    "A035": (
        "A secret is a column that has a name, and the records are arrays. Give a "
        "table: CSV, Parquet or a frame."
    ),
    "H001": (
        'The policy uses the MOSAICrOWN profile without naming it. Add "profile": '
        '"https://www.mosaicrown.eu/ns/mosaicrown/1/".'
    ),
    "H002": (
        "Its output check counts each row as a person: no unit of privacy is named. "
        "If persons have several rows, name the column that tells them apart as "
        "pe:privacyUnit."
    ),
    "W001": (
        "No engine can certify the output 'http://example.com/Sums': nobody may read "
        "it until it is attested. Then those may who may make it; a permission whose "
        "target it is lets others."
    ),
    "W003": ("http://e.org/t does not count: http://e.org/Eve does not own http://e.org/Visits."),
    "W004": (
        "'http://example.com/Claims' may be read with others by a permission that "
        "does not cover it. Add it to the targets."
    ),
    "W005": (
        "No privacy model is asked for: masking alone bounds nothing. Ask for a "
        "privacy model as well, such as k-anonymity, or bound what attacks reach: add "
        "the duty pe:recordLinkage or pe:populationRisk to a permission on the "
        "output."
    ),
    "W006": (
        "A missing value matches any, so k counts rows that could be the same, not "
        "rows alike. Let missing values be values of their own, unless that costs too "
        "many cells."
    ),
    "W007": (
        "Quasi-identifiers are released as they are: they show who is in the table. "
        "Ask for classes, if that should not be known."
    ),
    "W008": (
        "The noise has 10 times the standard deviation of its column. sdShare is a "
        "share: 10% is 0.1."
    ),
    "W009": (
        "pe:recordLinkage is never carried out for this remedy, and bounds nothing. "
        "Make it the duty of a permission on the output."
    ),
    "W010": (
        "No permission of the policy is about 'http://example.com/Visits': nothing "
        "that it lets anybody make is charged to the budget over it."
    ),
    "W011": (
        "Each release, or answer to a query, loses its epsilon, and nothing bounds "
        "what all of 'http://e.org/T' lose together. Give the policy a pe:budget over "
        "'http://e.org/T', or the permission a constraint on pe:spentEpsilon."
    ),
    "W012": (
        "A release loses an epsilon of 2, and the budget over "
        "'http://example.com/Visits' has 1: it is never made. Ask for less, or give "
        "the budget more."
    ),
    "W013": (
        "The label 'buys' is sensitive, and classes are cut so that it is alike in "
        "them: all of a class may have one. Ask for a model of sensitive values as "
        "well, such as l-diversity, or name the label as insensitive."
    ),
    "K001": (
        "In the state of the world, values.odrl:spatial: a fact must be a text, a "
        "number, a boolean, a time, or a list of these."
    ),
    "K002": "Too few persons or other units of privacy are in the cell.",
    "K003": "The cell says what nearly everyone in a group is, or is not.",
    "K004": "One unit contributes too much of the total.",
    "K005": "Two units contribute too much of the total.",
    "K006": "The largest contribution could be estimated too closely.",
    "K007": (
        "There are negative contributions, of which no rule tells who dominates a "
        "total; a person has to decide."
    ),
    "K008": "A smallest or largest value is that of somebody.",
    "K009": "Too few units have the percentile or the mode, or are beyond it.",
    "K010": "There are too few degrees of freedom.",
    "K011": "A correlation of exactly -1, 0 or 1 tells single values.",
    "K012": "Nearly all units have the most common value.",
    "K013": "The coefficients are a table of means of small groups in disguise.",
    "K014": "Other cells of the table would reveal one that is suppressed.",
    "K015": "The policy releases the whole table or nothing of it.",
    "K016": "What the rule needs to know of the cell is not known.",
    "K017": (
        "CURRENT_DATE is not allowed in a query whose answer is checked. Write the "
        "moment, as in DATE '2026-01-31'."
    ),
    "K018": (
        "A statistic of two columns is of different ones. Ask for a variance or a "
        "standard deviation."
    ),
    "K019": (
        "The tables lack the column of the policy's unit of privacy. Join the table that has it."
    ),
    "K020": "The profile has no threshold for statistics of this kind.",
    "K021": "No rule judges statistics of this kind; a person has to decide.",
    "K022": "The query cannot be answered on this data. Does it add up or compare texts?",
    "K023": (
        "The answer has to pass sacro 1.0 and be checked against earlier answers, "
        "which together tell what none tells alone, and no ledger of them is given. "
        "Give its file: output_ledger=FILE."
    ),
    "K024": ("'pay' is neither in GROUP BY nor in an aggregate. Put it into one of the two."),
    "K025": "'region' does not lie in 'district': one of its values has several of those.",
    "K026": (
        "1 total is not the sum of the cells shown with it. Give the table as it was "
        "computed; means are not added up (kind means)."
    ),
    "K027": (
        "'handed-in' is not a folder of outputs: it has no steps.db. A session writes "
        "one as it ends."
    ),
    "K028": "There is no output 'c'. There is 'a' and 'b'.",
    "K029": (
        "A figure is not what the recipe makes of the data. Give the columns, in "
        "order, and the measure that the table was made by."
    ),
    "K030": "There is no output ledger. An answer whose outputs are checked makes one.",
    "K031": (
        "The output ledger is locked: another process held it for 0.01 s. Try again "
        "once that process has ended."
    ),
    "K032": "The output ledger cannot be opened: Permission denied.",
    "K033": (
        "The output ledger is not that which the answer was judged against: it lacks "
        "the head 2:773a76ec102f5961156537f020f202b6176dca611b003bc0566c60c9353fc3b1 "
        "that it is expected to have. Is its path right? Answers that were given "
        "before would not count."
    ),
    "K034": (
        "The output ledger was made with another key, or without one. Give the key "
        "that it is chained with. If that is the key, it was changed."
    ),
    "K035": ("It is not an output ledger: the database contains more than one output ledger."),
    "K036": ("The output ledger was made by a newer version of the engine. Install that version."),
    "K037": (
        "The same data had other units in an earlier answer. 25 units were given. "
        "Units are numbered by the data alone, and its digest changes when they do."
    ),
    "K040": "Too few persons or other units of privacy are in the cell.",
    "K041": "Too few units tell the cell from one released before.",
    "K042": "Too few units tell the cell from another one of the answer.",
    "K043": "With what was released, the cell tells of too few units.",
    "K044": "With what was released, the cell tells a suppressed one.",
    "K045": (
        "With what was released, the cell nearly tells a suppressed one or the value of few units."
    ),
    "K046": ("The answer is beyond what the ledger of released answers decides; a person has to."),
    "K047": ("Earlier answers were about other data of the dataset; a person has to decide."),
    "K048": (
        "What the answer tells, alone or with earlier ones, could not be computed; a person has to "
        "decide."
    ),
    "K049": "The cell is withheld, for itself or for what it would tell of others.",
    "K050": "Another statistic of the same columns is released.",
    "K051": (
        "The data changed while the answer was computed. Nothing of it is shown. Ask "
        "again once the data stays as it is."
    ),
    "N001": "You are not signed in. Follow the link that the service gave you.",
    "N002": "Your roles do not let you read runs. Roles that do: owner, steward, auditor.",
    "N003": "There is nothing here, or nothing that you may see.",
    "N004": ("You have no IRI that policies call you by. Ask an administrator to give you one."),
    "N005": (
        "Somebody has changed this meanwhile, or you did elsewhere. Read it again, "
        "and make the change anew."
    ),
    "N006": "20 calls like this of yours wait to be answered. Wait for their answers.",
    "N007": "A text of the call has half a character: a surrogate by itself.",
    "N008": "The body of a call has at most 1,000 bytes.",
    "N009": (
        "The change was not asked for by a page of this service. Send the "
        "X-CSRF-Token that GET /api/v1/me gives."
    ),
    "N010": (
        "The provider of identities has not confirmed who you are, or not to this "
        "browser. Begin to sign in again."
    ),
    "N011": (
        "The Idempotency-Key was used for another call within the last 24 hours. Take "
        "a new key for each call."
    ),
    "N012": (
        "Beyond this machine, the service needs to know where people reach it. Give "
        "its address: public_url=URL."
    ),
    "N013": "The database does not answer in time. Try again in a moment.",
    "N020": (
        "The run ended without a result, as often as it was tried. Attempts: 3. The "
        "last one: its process was killed. Look for why, and retry it."
    ),
    "N021": "The run takes longer than 3600 seconds.",
    "U001": "--output ends in .svg, .mmd or .dot. 'p.png' was given.",
    "U002": "load_policy: missing a required argument: 'source'.",
    "X001": "The taxonomy of 'x' was not read.",
}
"""A line that a command prints, by its code."""
