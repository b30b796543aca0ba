"""The patients of a figure that buckets are made of."""

# MOSAICrOWN D5.2, figure 2.1, without record 11: year of birth, sex, disease.
PATIENTS = [line.split() for line in """
1960 F stroke
1960 M dyspepsia
1960 M achlorhydria
1960 F epilepsy
1955 M helicobacter
1955 M helicobacter
1955 F helicobacter
1955 F helicobacter
1955 M dermatitis
1955 M retinitis
1955 F dermatitis
1955 F gastritis
1960 F stroke
1960 F labyrinthitis
1960 M gastritis
1960 M dyspepsia
""".strip().splitlines()]  # fmt: skip
