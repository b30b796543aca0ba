"""Worked examples of publications: the tables before and after, every cell as it is printed."""

import csv
import io
from dataclasses import dataclass


@dataclass(frozen=True)
class Table:
    """A printed table: where from, its columns, its rows; which columns have which role."""

    source: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    quasi: tuple[str, ...]
    sensitive: tuple[str, ...]

    def column(self, name):
        return [row[self.columns.index(name)] for row in self.rows]

    def quasi_rows(self):
        return list(zip(*map(self.column, self.quasi), strict=True))

    def csv(self):
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows([self.columns, *self.rows])
        return text.getvalue()


# MOSAICrOWN D5.2, First report on privacy metrics and data sanitisation (2020). The columns SSN and
# Name are empty in its figures and left out here.

PATIENT_COLUMNS = ("DoB", "Sex", "ZIP", "Disease")
PATIENT_QUASI = ("DoB", "Sex", "ZIP")

PATIENTS = Table(
    source="MOSAICrOWN D5.2, figure 2.1(a): a de-identified medical dataset",
    columns=PATIENT_COLUMNS,
    rows=(
        ("1960/05/02", "F", "10041", "stroke"),
        ("1960/05/20", "M", "10032", "dyspepsia"),
        ("1960/05/12", "M", "10037", "achlorhydria"),
        ("1960/05/05", "F", "10044", "epilepsy"),
        ("1955/09/01", "M", "10043", "helicobacter"),
        ("1955/09/02", "M", "10042", "helicobacter"),
        ("1955/09/10", "F", "10039", "helicobacter"),
        ("1955/09/20", "F", "10030", "helicobacter"),
        ("1955/12/07", "M", "10030", "dermatitis"),
        ("1955/12/05", "M", "10031", "retinitis"),
        ("1958/12/11", "F", "10180", "epilepsy"),
        ("1955/12/25", "F", "10042", "dermatitis"),
        ("1955/12/30", "F", "10045", "gastritis"),
        ("1960/04/02", "F", "10036", "stroke"),
        ("1960/04/05", "F", "10034", "labyrinthitis"),
        ("1960/04/10", "M", "10047", "gastritis"),
        ("1960/04/30", "M", "10048", "dyspepsia"),
    ),
    quasi=PATIENT_QUASI,
    sensitive=("Disease",),
)

PATIENTS_4_ANONYMOUS = Table(
    source="MOSAICrOWN D5.2, figure 3.1: 4-anonymous, the 11th record suppressed",
    columns=PATIENT_COLUMNS,
    rows=(
        ("1960/05", "*", "100**", "stroke"),
        ("1960/05", "*", "100**", "dyspepsia"),
        ("1960/05", "*", "100**", "achlorhydria"),
        ("1960/05", "*", "100**", "epilepsy"),
        ("1955/09", "*", "100**", "helicobacter"),
        ("1955/09", "*", "100**", "helicobacter"),
        ("1955/09", "*", "100**", "helicobacter"),
        ("1955/09", "*", "100**", "helicobacter"),
        ("1955/12", "*", "100**", "dermatitis"),
        ("1955/12", "*", "100**", "retinitis"),
        ("1955/12", "*", "100**", "dermatitis"),
        ("1955/12", "*", "100**", "gastritis"),
        ("1960/04", "*", "100**", "stroke"),
        ("1960/04", "*", "100**", "labyrinthitis"),
        ("1960/04", "*", "100**", "gastritis"),
        ("1960/04", "*", "100**", "dyspepsia"),
    ),
    quasi=PATIENT_QUASI,
    sensitive=("Disease",),
)

PATIENTS_3_DIVERSE = Table(
    source="MOSAICrOWN D5.2, figure 3.3: 4-anonymous and 3-diverse, the same record suppressed",
    columns=PATIENT_COLUMNS,
    rows=(
        ("1955", "M", "100**", "helicobacter"),
        ("1955", "M", "100**", "helicobacter"),
        ("1955", "M", "100**", "dermatitis"),
        ("1955", "M", "100**", "retinitis"),
        ("1960", "F", "100**", "stroke"),
        ("1960", "F", "100**", "epilepsy"),
        ("1960", "F", "100**", "stroke"),
        ("1960", "F", "100**", "labyrinthitis"),
        ("1955", "F", "100**", "helicobacter"),
        ("1955", "F", "100**", "helicobacter"),
        ("1955", "F", "100**", "dermatitis"),
        ("1955", "F", "100**", "gastritis"),
        ("1960", "M", "100**", "dyspepsia"),
        ("1960", "M", "100**", "achlorhydria"),
        ("1960", "M", "100**", "gastritis"),
        ("1960", "M", "100**", "dyspepsia"),
    ),
    quasi=PATIENT_QUASI,
    sensitive=("Disease",),
)

# MOSAICrOWN D5.1, First version of data sanitisation tools (2020).

RECORD_COLUMNS = ("BirthYear", "Sex", "ZIP Code", "Disease")
RECORD_QUASI = ("BirthYear", "Sex", "ZIP Code")

RECORDS = Table(
    source="None: D5.1 prints no original. These six records have the ends of the ranges of both of"
    " its figures; which birth year goes with which disease is ours.",
    columns=RECORD_COLUMNS,
    rows=(
        ("1960", "Female", "20121", "Flu"),
        ("1980", "Female", "20137", "AIDS"),
        ("1970", "Female", "20138", "Flu"),
        ("1990", "Female", "20138", "Hepatitis"),
        ("1971", "Male", "20137", "Flu"),
        ("1979", "Male", "20137", "Broken rib"),
    ),
    quasi=RECORD_QUASI,
    sensitive=("Disease",),
)

RECORDS_SINGLE_DIMENSIONAL = Table(
    source="MOSAICrOWN D5.1, figure 2.2: single-dimensional Mondrian, k = 2",
    columns=RECORD_COLUMNS,
    rows=(
        ("[1960-1990]", "Female", "[20121-20137]", "Flu"),
        ("[1960-1990]", "Female", "[20121-20137]", "AIDS"),
        ("[1960-1990]", "Female", "20138", "Flu"),
        ("[1960-1990]", "Female", "20138", "Hepatitis"),
        ("[1960-1990]", "Male", "[20121-20137]", "Flu"),
        ("[1960-1990]", "Male", "[20121-20137]", "Broken rib"),
    ),
    quasi=RECORD_QUASI,
    sensitive=("Disease",),
)

RECORDS_MULTI_DIMENSIONAL = Table(
    source="MOSAICrOWN D5.1, figure 2.3: multi-dimensional Mondrian, k = 2",
    columns=RECORD_COLUMNS,
    rows=(
        ("[1960-1980]", "Female", "[20121-20137]", "Flu"),
        ("[1960-1980]", "Female", "[20121-20137]", "AIDS"),
        ("[1970-1990]", "Female", "20138", "Flu"),
        ("[1970-1990]", "Female", "20138", "Hepatitis"),
        ("[1971-1979]", "Male", "20137", "Flu"),
        ("[1971-1979]", "Male", "20137", "Broken rib"),
    ),
    quasi=RECORD_QUASI,
    sensitive=("Disease",),
)

# N. Li, T. Li, S. Venkatasubramanian, t-Closeness: Privacy beyond k-anonymity and l-diversity, ICDE
# 2007. Salaries are in thousands. Written down from memory of the paper, not from a copy: what
# speaks for the rows is that the figures that the paper prints come out of them (test_examples.py).

SALARY_COLUMNS = ("ZIP Code", "Age", "Salary", "Disease")
SALARY_QUASI = ("ZIP Code", "Age")
SALARY_SENSITIVE = ("Salary", "Disease")

SALARIES = Table(
    source="Li, Li, Venkatasubramanian, ICDE 2007, table 3: original",
    columns=SALARY_COLUMNS,
    rows=(
        ("47677", "29", "3", "gastric ulcer"),
        ("47602", "22", "4", "gastritis"),
        ("47678", "27", "5", "stomach cancer"),
        ("47905", "43", "6", "gastritis"),
        ("47909", "52", "11", "flu"),
        ("47906", "47", "8", "bronchitis"),
        ("47605", "30", "7", "bronchitis"),
        ("47673", "36", "9", "pneumonia"),
        ("47607", "32", "10", "stomach cancer"),
    ),
    quasi=SALARY_QUASI,
    sensitive=SALARY_SENSITIVE,
)

SALARIES_3_DIVERSE = Table(
    source="Li, Li, Venkatasubramanian, ICDE 2007, table 4: 3-diverse",
    columns=SALARY_COLUMNS,
    rows=(
        ("476**", "2*", "3", "gastric ulcer"),
        ("476**", "2*", "4", "gastritis"),
        ("476**", "2*", "5", "stomach cancer"),
        ("4790*", ">=40", "6", "gastritis"),
        ("4790*", ">=40", "11", "flu"),
        ("4790*", ">=40", "8", "bronchitis"),
        ("476**", "3*", "7", "bronchitis"),
        ("476**", "3*", "9", "pneumonia"),
        ("476**", "3*", "10", "stomach cancer"),
    ),
    quasi=SALARY_QUASI,
    sensitive=SALARY_SENSITIVE,
)

SALARIES_CLOSE = Table(
    source="Li, Li, Venkatasubramanian, ICDE 2007, table 5: .167-close in salary",
    columns=SALARY_COLUMNS,
    rows=(
        ("4767*", "<=40", "3", "gastric ulcer"),
        ("4767*", "<=40", "5", "stomach cancer"),
        ("4767*", "<=40", "9", "pneumonia"),
        ("4790*", ">=40", "6", "gastritis"),
        ("4790*", ">=40", "11", "flu"),
        ("4790*", ">=40", "8", "bronchitis"),
        ("4760*", "<=40", "4", "gastritis"),
        ("4760*", "<=40", "7", "bronchitis"),
        ("4760*", "<=40", "10", "stomach cancer"),
    ),
    quasi=SALARY_QUASI,
    sensitive=SALARY_SENSITIVE,
)

DISEASE_TREE = {
    "respiratory and digestive system diseases": None,
    "respiratory system diseases": "respiratory and digestive system diseases",
    "digestive system diseases": "respiratory and digestive system diseases",
    "respiratory infection": "respiratory system diseases",
    "vascular lung diseases": "respiratory system diseases",
    "stomach diseases": "digestive system diseases",
    "colon diseases": "digestive system diseases",
    "flu": "respiratory infection",
    "pneumonia": "respiratory infection",
    "bronchitis": "respiratory infection",
    "pulmonary edema": "vascular lung diseases",
    "pulmonary embolism": "vascular lung diseases",
    "gastric ulcer": "stomach diseases",
    "stomach cancer": "stomach diseases",
    "gastritis": "stomach diseases",
    "colitis": "colon diseases",
    "colon cancer": "colon diseases",
}
"""Parent of each disease or kind of disease: Li et al., ICDE 2007, figure 1."""

RELEASES = (
    (PATIENTS_4_ANONYMOUS, 4, 1),
    (PATIENTS_3_DIVERSE, 4, 3),
    (RECORDS_SINGLE_DIMENSIONAL, 2, 2),
    (RECORDS_MULTI_DIMENSIONAL, 2, 2),
    (SALARIES_3_DIVERSE, 3, 3),
    (SALARIES_CLOSE, 3, 3),
)
"""Each published release with the rows of its smallest class and its least distinct diversity."""
