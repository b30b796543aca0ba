"""Words in the names of columns, in the large languages of Europe and a few of Asia.

Words are written in lower case without accents, as `tokens_in` returns them. Words in scripts that
put no blanks between words are found within others; so are the endings of compounds.
"""

import re
import unicodedata
from collections.abc import Iterable

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_a-zA-Z]+")
_MARKS = re.compile(r"[\u0300-\u036f]")
_LETTERS = str.maketrans(
    {"ł": "l", "Ł": "L", "ø": "o", "Ø": "O", "đ": "d", "ß": "ss", "æ": "ae", "\u0131": "i"}
)

_IDENTIFIERS_TEXT = """
    name names firstname lastname surname forename fullname nickname username email mail phone
    telephone mobile fax ssn nin nino iban passport license licence uuid guid address street
    account login handle url ip mac imei patient mrn nhs signature card pan nachname vorname
    familienname rufname geburtsname telefon handy adresse anschrift strasse str hausnummer konto
    kontonummer bankkonto kreditkarte karte steuer steuerid steuernummer ahv versichertennummer
    personalausweis reisepass ausweis kennzeichen benutzername unterschrift nom noms prenom
    prenoms patronyme courriel rue portable compte carte passeport immatriculation nir identifiant
    nombre nombres apellido apellidos correo telefono movil celular direccion calle domicilio
    cuenta tarjeta dni nif nie curp pasaporte matricula usuario nome nomi cognome cognomi
    nominativo indirizzo cellulare carta conto passaporto targa fiscale codicefiscale utente
    sobrenome apelido telefone telemovel endereco morada rua conta cartao passaporte cpf rg nus
    naam voornaam achternaam familienaam telefoon telefoonnummer mobiel adres straat rekening bsn
    kaart paspoort kenteken gebruikersnaam imie imiona nazwisko nazwiska telefonu ulica pesel nip
    konta karta paszport dowod namn fornamn efternamn tilltalsnamn personnummer gata gatuadress
    mobilnummer epost kort navn fornavn etternavn efternavn nimi etunimi sukunimi henkilotunnus
    adresa jmeno prijmeni meno priezvisko nev vezeteknev keresztnev lakcim telefonszam nume prenume
    ime prezime priimek eesnimi perenimi vards uzvards vardas pavarde cognom izena abizena isim
    soyad soyadi soyisim hoten nama alamat jina pangalan apelyido имя фамилия отчество фио адрес
    телефон паспорт почта снилс инн прізвище адреса име ονομα επωνυμο διευθυνση τηλεφωνο
"""
IDENTIFIERS = frozenset(_IDENTIFIERS_TEXT.split())
"""Words of what names a person."""

_WEAK_IDENTIFIERS_TEXT = """
    name names firstname lastname surname forename fullname nickname street address nachname
    vorname familienname rufname geburtsname adresse anschrift strasse str hausnummer nom noms
    prenom prenoms patronyme rue nombre nombres apellido apellidos direccion calle domicilio nome
    nomi cognome cognomi nominativo indirizzo via sobrenome apelido endereco morada rua naam
    voornaam achternaam familienaam adres straat imie imiona nazwisko nazwiska ulica namn fornamn
    efternamn tilltalsnamn gata gatuadress navn fornavn etternavn efternavn nimi etunimi sukunimi
    jmeno prijmeni meno priezvisko nev vezeteknev keresztnev lakcim nume prenume ime prezime
    priimek eesnimi perenimi vards uzvards vardas pavarde cognom izena abizena isim soyad soyadi
    soyisim hoten nama alamat jina pangalan apelyido имя фамилия отчество адрес прізвище адреса
    име ονομα επωνυμο διευθυνση
"""
WEAK_IDENTIFIERS = frozenset(_WEAK_IDENTIFIERS_TEXT.split())
"""Words of what several persons may share, such as a name."""

_QUASI_IDENTIFIERS_TEXT = """
    age birth birthday birthdate dob born sex gender zip zipcode postcode postal plz city town
    village county region state country district commune municipality area province precinct room
    race ethnicity nationality citizenship marital married education school degree occupation
    profession job employer employment emp title language admission discharge personal relation
    household housing home ownership dependents children residence foreign latitude longitude lat
    lon lng gps vehicle veh make brand date datetime time day month year yr isco nace naics
    geburtsdatum geburtstag geburtsjahr geburtsort gebdat geboren alter geschlecht postleitzahl
    ort wohnort stadt gemeinde kreis bundesland land staat staatsangehoerigkeit
    staatsangehorigkeit nationalitat familienstand beruf bildung ausbildung sprache kinder datum
    jahr monat breitengrad laengengrad langengrad sexe genre naissance postale cp ville pays
    departement nationalite metier langue enfants annee mois jour etat sexo genero edad nacimiento
    codigopostal ciudad municipio provincia pais nacionalidad estado civil ocupacion profesion
    educacion idioma hijos fecha ano mes sesso genere eta nascita cap citta comune regione paese
    nazionalita cittadinanza professione occupazione istruzione lingua figli anno mese idade
    nascimento cep cidade bairro nacionalidade profissao escolaridade filhos data leeftijd
    geslacht geboortedatum geboortejaar geboorteplaats woonplaats gemeente stad provincie beroep
    opleiding taal jaar maand nationaliteit burgerlijke wiek plec urodzenia kod pocztowy miasto
    miejscowosc wojewodztwo gmina powiat kraj zawod wyksztalcenie obywatelstwo rok miesiac alder
    kon kjonn fodelsedatum fodelsear fodselsdato postnummer kommun lan yrke utbildning
    medborgarskap dato ar ika sukupuoli syntymaaika postinumero
"""
QUASI_IDENTIFIERS = frozenset(_QUASI_IDENTIFIERS_TEXT.split())
"""Words of what others may know of a person."""

_SENSITIVES_TEXT = """
    diagnosis diagnoses diag disease icd illness condition symptom drug medication treatment
    therapy hiv salary income wage wages debt credit loan religion politics party vote sexuality
    offence crime result grade score claim claims outcome default class label target churn
    readmitted status diagnose krankheit erkrankung befund medikament behandlung therapie gehalt
    lohn einkommen schulden kredit konfession partei note diagnostic maladie medicament traitement
    salaire revenu dette parti resultat diagnostico enfermedad medicamento tratamiento salario
    sueldo ingresos deuda credito partido resultado diagnosi malattia farmaco terapia stipendio
    reddito debito religione partito esito doenca tratamento renda rendimento divida religiao
    ziekte aandoening medicijn behandeling salaris loon inkomen schuld religie geloof diagnoza
    choroba lek leczenie wynagrodzenie dochod dlug religia wynik diagnos sjukdom lakemedel lon
    inkomst skuld
"""
SENSITIVES = frozenset(_SENSITIVES_TEXT.split())
"""Words of what nobody should learn about a person."""

AMBIGUOUS = frozenset(["party", "partei", "parti", "partito", "partido", "partij", "partia"])
"""Words of what nobody should learn, or of somebody, such as a party to a case."""

_SUBJECTS_TEXT = """
    patient person client customer member insured policyholder employee student user subject
    respondent household borrower applicant tenant citizen resident kunde kunden mitarbeiter
    mitglied schueler schuler versicherte versicherten patienten nutzer benutzer mandant cliente
    clientes paciente empleado alumno usuario persona paziente dipendente studente assistito
    employe eleve adherent assure usager personne funcionario aluno utente pessoa klant medewerker
    leerling verzekerde klient pacjent pracownik kund anstalld elev
"""
SUBJECTS = frozenset(_SUBJECTS_TEXT.split())
"""Words of persons whom a table is about: a number of one tells persons apart."""

_ROLES_TEXT = """
    teacher officer doctor physician nurse agent manager handler owner author contact guardian
    arzt hausarzt lehrer betreuer berater medico profesor medecin huisarts arts lekarz nauczyciel
    lakare
"""
ROLES = SUBJECTS | frozenset(_ROLES_TEXT.split())
"""Words of persons, also of those who only serve others: a column called so names somebody."""

_NUMBERS_TEXT = """
    id ids uid no nr nbr number key rownum rowid index num numero numer nummer ref reference
    token hash pseudonym
"""
NUMBERS = frozenset(_NUMBERS_TEXT.split())
"""Words of numbers that tell something apart."""

_COUNTS_TEXT = """
    number num n nb nbr count anzahl nombre cantidad quantidade numero aantal liczba antal total
    sum
"""
COUNTS = frozenset(_COUNTS_TEXT.split())
"""Words that a name of a count begins or ends with."""

_MEASURES_TEXT = """
    amount amt total sum average avg mean count price cost charge charges payment payments fee
    rate ratio balance value volume quantity qty duration length weight height width size distance
    speed power density temperature pressure bmi hours minutes seconds days weeks months years
    score points level percent share bonus malus exposure discharges procedures visits limit
    premium anzahl betrag summe preis kosten wert menge dauer gewicht groesse grosse laenge lange
    hoehe hohe stunden tage punkte umsatz montant somme prix cout valeur quantite duree poids
    taille heures jours importe precio costo coste valor cantidad duracion peso altura horas dias
    importo prezzo valore quantita durata altezza ore giorni preco custo quantidade duracao bedrag
    prijs waarde aantal duur lengte uren dagen kwota cena koszt wartosc liczba waga wzrost belopp
    pris varde antal vikt langd
"""
MEASURES = frozenset(_MEASURES_TEXT.split())
"""Words of what is measured or counted."""

_ENDINGS = {
    "identifier": """
        adresse strasse straat telefon konto namn navn name naam 电话 電話
        手机 携帯 住所 地址 住址 姓名 名字 氏名 名前 苗字 姓 メール 邮箱 郵箱
        身份证 口座 账号 マイナンバー 이름 성명 성함 전화 휴대폰 주소 이메일
        계좌 주민등록번호 اسم لقب هاتف عنوان שם טלפון כתובת नाम फोन पता ชื่อ สกุล ที่อยู่ โทรศัพท์
    """,
    "shared": """
        name namn navn naam strasse 住所 地址 住址 姓名 名字 氏名 名前 苗字 姓
        이름 성명 성함 주소 اسم لقب عنوان שם כתובת नाम पता ชื่อ สกุล ที่อยู่
    """,
    "quasi-identifier": """
        datum geburt stand 生年月日 出生 誕生日 生日 年齢 年龄 年齡 性別 性别
        邮编 郵便番号 郵遞區號 邮政编码 城市 都道府県 国籍 职业 職業 생년월일
        나이 연령 성별 우편번호 도시 국적 직업
    """,
    "sensitive": """
        diagnose gehalt 诊断 診断 病名 工资 給与 年収 收入 宗教 진단 급여 연봉
        소득 종교
    """,
    "number": "nummer nr numer 번호 番号 号码 編号 编号",
    "person": "arzt lehrer 医師 医生 의사",
    "subject": "患者 환자 顧客 客户 고객",
}
"""Endings of compounds, and words in scripts without blanks."""
_ENDING_WORDS = {kind: tuple(words.split()) for kind, words in _ENDINGS.items()}


def tokens_in(name: str) -> list[str]:
    """Return the words in the name of a column in their order, in lower case without accents.

    A name in a script whose letters have marks of their own is a word as a whole, too.
    """
    plain = _MARKS.sub("", unicodedata.normalize("NFKD", name.translate(_LETTERS)))
    words = [one.casefold() for one in _WORD.findall(unicodedata.normalize("NFC", plain))]
    has_marks = any(unicodedata.category(one).startswith("M") for one in plain)
    return [*words, unicodedata.normalize("NFC", plain).casefold()] if has_marks else words


def is_in_other_script(name: str) -> bool:
    """Tell whether a name has letters of another script than Latin."""
    return any(one.isalpha() and "LATIN" not in unicodedata.name(one, "") for one in name)


def is_identifier_word(word: str) -> bool:
    """Tell whether a word is of what names a person."""
    return word in IDENTIFIERS or _ends(word, "identifier")


def is_quasi_identifier_word(word: str) -> bool:
    """Tell whether a word is of what others may know of a person."""
    return word in QUASI_IDENTIFIERS or _ends(word, "quasi-identifier")


def is_sensitive_word(word: str) -> bool:
    """Tell whether a word is of what nobody should learn about a person."""
    return word in SENSITIVES or _ends(word, "sensitive")


def is_number_word(word: str) -> bool:
    """Tell whether a word is of numbers that tell something apart."""
    return word in NUMBERS or _ends(word, "number")


def is_weak_word(word: str) -> bool:
    """Tell whether a word is of what names a person and several may share."""
    return word in WEAK_IDENTIFIERS or _ends(word, "shared")


def is_person_word(word: str) -> bool:
    """Tell whether a word is of a person, or of the number of one."""
    return (
        word in ROLES
        or is_number_of_subject(word)
        or _ends(word, "person")
        or _ends(word, "subject")
    )


def is_subject_word(word: str) -> bool:
    """Tell whether a word is of somebody whom a table is about."""
    return word in SUBJECTS or _ends(word, "subject")


def is_number_of_subject(word: str) -> bool:
    """Tell whether a compound is of the number of somebody, such as a customer."""
    return any(
        word.startswith(one) and (is_number_word(word[len(one) :]) or is_number_word(word))
        for one in SUBJECTS
        if word != one
    )


def is_count(words: Iterable[str]) -> bool:
    """Tell whether a name of several words begins or ends with the word of a count."""
    listed = list(words)
    return len(listed) > 1 and (listed[0] in COUNTS or listed[-1] in ("count", "total", "anzahl"))


def _ends(word: str, kind: str) -> bool:
    """Tell whether a word is a compound with an ending, or has a word without blanks in it."""
    return any(
        (word.endswith(one) and len(word) > len(one) + 1) if one.isascii() else one in word
        for one in _ENDING_WORDS[kind]
    )
