"""Published rules and seeded random numbers -> the small data files of the examples.

Monk's first problem is generated exactly from its rule; the other data are synthetic, with columns like those of the
data sets they imitate. Every run produces the same files: `python examples/make_data.py`.
"""

from __future__ import annotations

import csv
import itertools
import random
from collections.abc import Iterable, Sequence
from pathlib import Path

HERE = Path(__file__).parent


def main() -> None:
    write("plain/heart.csv", ["age", "sex", "chest_pain", "pressure", "cholesterol", "angina", "disease"], heart())
    write("list/heart.csv", ["age", "sex", "chest_pain", "pressure", "cholesterol", "angina", "disease"], heart())
    write("perfect/monk1.csv", ["a1", "a2", "a3", "a4", "a5", "a6", "class"], monk1())
    write("sparse/compas.csv", ["id", "name", "age", "priors", "juvenile", "charge", "two_year_recid"], recidivism())
    write("fair/adult.csv", ["age", "sex", "education", "hours per week", "married", "income"], incomes())
    write("costs/diabetes.csv", ["glucose", "insulin", "bmi", "age", "survey_weight", "outcome"], diabetes())
    write("quantile/deliveries.csv", ["distance", "stops", "rain", "hour", "minutes"], deliveries())
    write("boost/spambase.csv", ["free", "money", "you", "meeting", "capitals", "exclamations", "spam"], spam())
    write("cases/credit.csv", ["age", "income", "debt", "years", "housing", "sex", "repaid"], credit())
    write("cases/medical.csv", ["age", "bmi", "pressure", "glucose", "insulin", "sleep", "outcome"], medical())
    write("cases/recidivism.csv", ["age", "priors", "juvenile", "charge", "employed", "months", "again"], released())
    write("cases/demand.csv", ["weekday", "hour", "temperature", "holiday", "event", "bikes"], demand())
    write("cases/customers.csv", ["visits", "spent", "age", "channel"], customers())
    write("cases/multiplexer.csv", ["a0", "a1", "d0", "d1", "d2", "d3", "noise", "out"], multiplexer())
    write("cases/messages.csv", ["offer", "money", "meeting", "links", "capitals", "length", "spam"], messages())
    write("cases/machines.csv", ["load", "heat", "vibration", "age", "oil", "line", "repair"], machines())
    write("cases/treatment.csv", ["age", "severity", "kidney", "arm", "days", "gain_treat", "gain_wait"], treatment())
    write("deep/loans.csv", ["income", "debt", "years", "purpose", "late", "default"], loans())


def write(name: str, header: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    with (HERE / name).open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)


def heart() -> Iterable[Sequence[object]]:
    chance = random.Random(1)
    for _ in range(200):
        age, sex = chance.randint(35, 74), chance.choice("FM")
        pain = chance.choice(["typical", "atypical", "none"])
        pressure, cholesterol = 5 * chance.randint(20, 36), 10 * chance.randint(15, 36)
        angina = chance.choice(["no", "no", "yes"])
        risk = (age > 57) + (sex == "M") + 2 * (pain == "none") + 2 * (angina == "yes") + (cholesterol > 280)
        ill = risk + chance.gauss(0, 0.8) > 2.7
        yield age, sex, pain, pressure, cholesterol, angina, "yes" if ill else "no"


def monk1() -> Iterable[Sequence[object]]:
    for row in itertools.product(range(1, 4), range(1, 4), range(1, 3), range(1, 4), range(1, 5), range(1, 3)):
        yield *row, int(row[0] == row[1] or row[4] == 1)


def recidivism() -> Iterable[Sequence[object]]:
    chance = random.Random(2)
    for number in range(1, 301):
        age, priors = chance.randint(18, 65), min(20, int(chance.expovariate(0.35)))
        juvenile, charge = int(chance.random() < 0.15), chance.choice(["felony", "misdemeanor"])
        score = 0.9 * (age < 25) + 0.25 * priors + 0.8 * juvenile + 0.2 * (charge == "felony")
        again = score + chance.gauss(0, 0.7) > 1.2
        yield number, f"person {number}", age, priors, juvenile, charge, "yes" if again else "no"


def incomes() -> Iterable[Sequence[object]]:
    chance = random.Random(3)
    for _ in range(240):
        age, sex = chance.randint(18, 70), chance.choice(["Female", "Male"])
        education = chance.choice(["school", "college", "master"])
        hours, married = 5 * chance.randint(4, 12), chance.choice(["no", "yes"])
        score = (age > 35) + (education == "master") + (hours >= 45) + (married == "yes") + 0.5 * (sex == "Male")
        rich = score + chance.gauss(0, 0.6) > 2.4
        yield age, sex, education, hours, married, ">50K" if rich else "<=50K"


def diabetes() -> Iterable[Sequence[object]]:
    chance = random.Random(4)
    for _ in range(240):
        glucose, insulin = 10 * chance.randint(7, 19), 50 * chance.randint(1, 8)
        bmi, age = 2.5 * chance.randint(7, 19), 5 * chance.randint(4, 14)
        score = 2 * (glucose > 150) + (bmi > 32) + (insulin > 250) + (age > 45)
        ill = score + chance.gauss(0, 0.7) > 2.6
        yield glucose, insulin, bmi, age, chance.choice(["0.5", "1", "1.25", "2"]), "ill" if ill else "healthy"


def deliveries() -> Iterable[Sequence[object]]:
    chance = random.Random(5)
    for _ in range(300):
        distance, stops = round(chance.uniform(0.5, 25), 1), chance.randint(0, 6)
        rain, hour = chance.choice(["no", "yes"]), chance.randint(8, 20)
        minutes = 6 + 3 * distance + 4 * stops + 10 * (rain == "yes") + 12 * (16 <= hour <= 18)
        yield distance, stops, rain, hour, round(minutes + chance.expovariate(0.15), 1)


def spam() -> Iterable[Sequence[object]]:
    chance = random.Random(6)
    for _ in range(160):
        words = [int(chance.random() < share) for share in (0.4, 0.35, 0.6, 0.3)]
        capitals, exclamations = chance.randint(0, 30), chance.randint(0, 6)
        score = words[0] + words[1] - 1.5 * words[3] + (capitals > 18) + (exclamations > 3)
        yield *words, capitals, exclamations, int(score + chance.gauss(0, 0.5) > 1.1)


def loans() -> Iterable[Sequence[object]]:
    chance = random.Random(7)
    for _ in range(400):
        income, debt = 1000 * chance.randint(15, 120), 500 * chance.randint(0, 80)
        years, late = chance.randint(0, 20), min(9, int(chance.expovariate(0.8)))
        purpose = chance.choice(["car", "home", "study", "travel"])
        score = 2 * (debt > 0.4 * income) + 0.5 * late + (purpose == "travel") - 0.1 * years
        yield income, debt, years, purpose, late, "yes" if score + chance.gauss(0, 0.5) > 1.3 else "no"


def credit() -> Iterable[Sequence[object]]:
    chance = random.Random(11)
    for _ in range(400):
        sex, housing = chance.choice(["woman", "man"]), chance.choice(["own", "rent"])
        age, years = chance.randint(20, 69), chance.randint(0, 25)
        income = chance.randint(14, 60) + (12 if sex == "man" else 0)
        debt = chance.randint(0, 40)
        score = income - debt + 0.6 * years + 6 * (housing == "own") + chance.gauss(0, 8)
        yield age, income, debt, years, housing, sex, "yes" if score > 26 else "no"


def medical() -> Iterable[Sequence[object]]:
    chance = random.Random(12)
    for _ in range(400):
        age, bmi = 5 * chance.randint(4, 16), chance.randint(18, 42)
        pressure, sleep = 5 * chance.randint(20, 34), chance.randint(4, 9)
        glucose, insulin = 10 * chance.randint(7, 20), 25 * chance.randint(1, 14)
        score = 1.6 * (glucose > 140) + 1.4 * (insulin > 200) + 0.8 * (bmi > 31) + 0.6 * (age > 50)
        yield age, bmi, pressure, glucose, insulin, sleep, "ill" if score + chance.gauss(0, 0.5) > 2.2 else "well"


def treatment() -> Iterable[Sequence[object]]:
    """A randomized trial: days gained, and the doubly robust score of each arm for every patient."""
    chance = random.Random(21)
    patients = []
    for _ in range(500):
        age, severity, kidney = 5 * chance.randint(5, 17), chance.randint(1, 5), chance.choice(["good", "good", "poor"])
        arm = "treat" if chance.random() < 0.5 else "wait"
        effect = 6 if severity >= 3 and kidney == "good" else -3
        days = 20 - 2 * severity + (effect if arm == "treat" else 0) + chance.gauss(0, 3)
        patients.append((age, severity, kidney, arm, round(days, 1)))
    means = {}
    for arm, severity in itertools.product(("treat", "wait"), range(1, 6)):
        alike = [each[4] for each in patients if each[3] == arm and each[1] == severity]
        means[arm, severity] = sum(alike) / len(alike)
    for age, severity, kidney, arm, days in patients:
        scores = []
        for other in ("treat", "wait"):
            mean = means[other, severity]
            scores.append(round(mean + (days - mean) / 0.5 * (arm == other), 3))
        yield age, severity, kidney, arm, days, *scores


def released() -> Iterable[Sequence[object]]:
    chance = random.Random(13)
    for _ in range(600):
        age, priors = chance.randint(18, 70), min(15, int(chance.expovariate(0.4)))
        juvenile, charge = int(chance.random() < 0.2), chance.choice(["felony", "misdemeanor"])
        employed, months = chance.choice(["no", "yes"]), chance.randint(0, 60)
        risk = 0.22 * priors + 1.1 * (age < 26) + 0.7 * juvenile - 0.5 * (employed == "yes")
        yield age, priors, juvenile, charge, employed, months, "yes" if risk + chance.gauss(0, 0.6) > 0.9 else "no"


def demand() -> Iterable[Sequence[object]]:
    chance = random.Random(14)
    for _ in range(300):
        weekday, hour = chance.choice(["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]), chance.randint(6, 22)
        temperature = chance.randint(-5, 30)
        holiday, event = chance.choice(["no", "no", "no", "yes"]), chance.choice(["no", "no", "no", "no", "yes"])
        rush = hour in (7, 8, 17, 18) and weekday not in ("Sat", "Sun") and holiday == "no"
        mean = 20 + 2 * max(0, temperature) + 60 * rush + 50 * (event == "yes")
        yield weekday, hour, temperature, holiday, event, int(chance.gammavariate(8, mean / 8))


def customers() -> Iterable[Sequence[object]]:
    chance = random.Random(15)
    centers = ((3, 20, 24, "web"), (14, 35, 45, "shop"), (5, 160, 52, "phone"), (22, 120, 31, "web"))
    for number in range(320):
        visits, spent, age, channel = centers[number % 4]
        if chance.random() < 0.2:
            channel = chance.choice(["web", "shop", "phone"])
        yield (
            max(1, round(chance.gauss(visits, 2.5))), max(5, round(chance.gauss(spent, 18))),
            max(18, round(chance.gauss(age, 5))), channel,
        )  # fmt: skip


def multiplexer() -> Iterable[Sequence[object]]:
    for row in itertools.product((0, 1), repeat=7):
        yield *row, row[2 + 2 * row[0] + row[1]]


def messages() -> Iterable[Sequence[object]]:
    chance = random.Random(16)
    for _ in range(300):
        offer, money, meeting = (int(chance.random() < share) for share in (0.4, 0.35, 0.3))
        links, capitals, length = chance.randint(0, 8), chance.randint(0, 40), chance.randint(20, 400)
        score = offer + money - 1.5 * meeting + 0.3 * links + 0.03 * capitals - 0.002 * length
        yield offer, money, meeting, links, capitals, length, "yes" if score + chance.gauss(0, 0.5) > 1.4 else "no"


def machines() -> Iterable[Sequence[object]]:
    chance = random.Random(17)
    for _ in range(900):
        load, heat, vibration = chance.randint(10, 100), chance.randint(30, 120), chance.randint(0, 50)
        age, oil, line = chance.randint(0, 15), chance.randint(0, 100), chance.choice(["A", "B", "C"])
        wear = (load > 70) * (heat > 85) + (vibration > 32) * (oil < 35) + (age > 9) * (line == "B") * (load > 40)
        yield load, heat, vibration, age, oil, line, "yes" if (wear >= 1) ^ (chance.random() < 0.08) else "no"


if __name__ == "__main__":
    main()
