"""Examples of the terms of the policy language, for the page that tells of them."""

from collections.abc import Mapping
from typing import Any

from policy_engine import terms

OF_POLICIES: dict[str, Any] = {
    "odrl:profile": {"profile": terms.MOSAICROWN},
    "odrl:conflict": {"conflict": "prohibit"},
    "odrl:inheritFrom": {"inheritFrom": "ex:policy/house"},
    "odrl:permission": {"permission": {"target": "ex:Visits", "action": "read"}},
    "odrl:prohibition": {"prohibition": {"target": "ex:Visits", "action": "sell"}},
    "odrl:obligation": {"obligation": {"assignee": "ex:Ann", "action": "delete"}},
}
COST = "http://example.com/Visits/Cost"
WARD = "http://example.com/Visits/Ward"
WARDS = {"@id": WARD, "pe:keys": ["surgery", "maternity"]}
UNITS = {"pe:function": "count-units"}
OF_POLICIES |= {
    "pe:queries": {"pe:queries": {"uid": "ex:Visits/wards", "pe:aggregate": [UNITS]}},
    "pe:budget": {
        "pe:budget": {"pe:over": "ex:Visits", "pe:epsilon": 10, "pe:scope": "allAssignees"}
    },
}
OF_RULES: Mapping[str, Any] = {
    "odrl:uid": {"uid": "ex:policy/visits#1"},
    "odrl:target": {"target": "ex:Visits"},
    "odrl:action": {"action": "read"},
    "odrl:output": {"action": "aggregate", "output": "ex:Totals"},
    "mosaicrown:purpose": {"purpose": "statistical"},
    "odrl:constraint": {
        "constraint": {"leftOperand": "count", "operator": "lteq", "rightOperand": 5}
    },
    "odrl:duty": {"duty": {"action": "inform", "informedParty": "ex:Office"}},
    "odrl:consequence": {"duty": {"action": "delete", "consequence": {"action": "compensate"}}},
    "odrl:remedy": {"action": "sell", "remedy": {"action": "delete"}},
    "mosaicrown:belongsTo": {"assignee": {"uid": "ex:Ann", "belongsTo": "ex:Research"}},
    "odrl:partOf": {"target": {"uid": "ex:Visits", "partOf": "ex:Archive"}},
    "odrl:source": {"target": {"@type": "AssetCollection", "source": "ex:Archive"}},
    "odrl:refinement": {
        "target": {
            "source": "ex:Archive",
            "refinement": {"leftOperand": "language", "operator": "eq", "rightOperand": "de"},
        }
    },
    "odrl:includedIn": {"action": {"uid": "ex:score", "includedIn": "use"}},
    "odrl:implies": {"action": {"uid": "ex:score", "includedIn": "use", "implies": "read"}},
    "mosaicrown:declinationOf": {"purpose": {"uid": "ex:Audit", "declinationOf": "institutional"}},
}
OF_CONSTRAINTS: Mapping[str, Any] = {
    "odrl:leftOperand": {"leftOperand": "count", "operator": "lt", "rightOperand": 10},
    "odrl:operator": {"leftOperand": "count", "operator": "gt", "rightOperand": 0},
    "odrl:rightOperand": {"leftOperand": "version", "operator": "eq", "rightOperand": "1.2"},
    "odrl:rightOperandReference": {
        "leftOperand": "count",
        "operator": "lteq",
        "rightOperandReference": "ex:quota",
    },
    "odrl:dataType": {
        "leftOperand": "percentage",
        "operator": "lteq",
        "rightOperand": "12.5",
        "dataType": "xsd:decimal",
    },
    "odrl:unit": {
        "leftOperand": "payAmount",
        "operator": "gteq",
        "rightOperand": 5,
        "unit": "http://dbpedia.org/resource/Euro",
    },
    "odrl:status": {"leftOperand": "count", "operator": "lteq", "rightOperand": 9, "status": 4},
}
CLASSES: Mapping[str, Any] = {
    "odrl:Rule": {"@type": "Rule"},
    "odrl:Permission": {"@type": "Permission"},
    "odrl:Prohibition": {"@type": "Prohibition", "action": "sell"},
    "odrl:Duty": {"duty": {"@type": "Duty", "action": "delete"}},
    "odrl:Action": {"action": {"@type": "Action", "uid": "ex:score", "includedIn": "use"}},
    "odrl:Asset": {"target": {"@type": "Asset", "uid": "ex:Visits"}},
    "odrl:AssetCollection": {"target": {"@type": "AssetCollection", "source": "ex:Archive"}},
    "odrl:Party": {"assignee": {"@type": "Party", "uid": "ex:Ann"}},
    "odrl:PartyCollection": {"assignee": {"@type": "PartyCollection", "source": "ex:Research"}},
    "odrl:Constraint": {
        "constraint": {"@type": "Constraint", **OF_CONSTRAINTS["odrl:leftOperand"]}
    },
    "odrl:LogicalConstraint": {
        "constraint": {
            "@type": "LogicalConstraint",
            "and": [OF_CONSTRAINTS["odrl:leftOperand"], OF_CONSTRAINTS["odrl:operator"]],
        }
    },
}
END = {"@value": "2027-01-01T00:00:00Z", "@type": "xsd:dateTime"}
OPERANDS: Mapping[str, tuple[str, Any]] = {
    "absolutePosition": ("eq", "10,20"),
    "absoluteSize": ("lteq", 1024),
    "absoluteSpatialPosition": ("eq", "0,0 100,50"),
    "absoluteTemporalPosition": ("eq", "00:00:10 00:00:20"),
    "count": ("lteq", 10),
    "countByAsset": ("lteq", 3),
    "countByParty": ("lteq", 3),
    "dateTime": ("lt", END),
    "delayPeriod": ("gteq", "P7D"),
    "deliveryChannel": ("eq", {"@id": "ex:Portal"}),
    "device": ("eq", {"@id": "ex:Terminal"}),
    "elapsedTime": ("lteq", "PT1H"),
    "event": ("eq", {"@id": "ex:Audit"}),
    "fileFormat": ("isAnyOf", ["text/csv", "application/json"]),
    "industry": ("isPartOf", {"@id": "ex:HealthCare"}),
    "language": ("eq", "de"),
    "media": ("neq", "print"),
    "meteredTime": ("lteq", "PT10H"),
    "payAmount": ("gteq", 5),
    "percentage": ("lteq", 12.5),
    "product": ("eq", {"@id": "ex:Atlas"}),
    "purpose": ("isA", {"@id": "mosaicrown:statistical"}),
    "recipient": ("isNoneOf", [{"@id": "ex:Press"}, {"@id": "ex:Insurers"}]),
    "relativePosition": ("eq", "50,50"),
    "relativeSize": ("lteq", 50),
    "relativeSpatialPosition": ("eq", "0,0 50,50"),
    "relativeTemporalPosition": ("eq", "0 10"),
    "resolution": ("gteq", 300),
    "spatial": ("isPartOf", {"@id": "ex:Europe"}),
    "spatialCoordinates": ("eq", "45.4,9.1 45.5,9.3"),
    "system": ("eq", {"@id": "ex:Cluster"}),
    "systemDevice": ("eq", {"@id": "ex:Cluster"}),
    "timeInterval": ("gteq", "P1D"),
    "unitOfCount": ("eq", {"@id": "ex:Person"}),
    "version": ("eq", "1.2"),
    "virtualLocation": ("isPartOf", {"@id": "ex:Intranet"}),
    "jointly": ("isAnyOf", ["ex:SafeVisits", "ex:Visits/Zip"]),
    "readSoFar": ("isNoneOf", ["ex:Visits/Zip", "ex:Visits/Diagnosis"]),
    "derived": ("eq", "exempt"),
    "spentEpsilon": ("lteq", 4),
    "spentDelta": ("lteq", 1e-6),
}
OPERATORS: Mapping[str, tuple[str, Any]] = {
    "eq": ("language", "de"),
    "gt": ("count", 0),
    "gteq": ("percentage", 50),
    "hasPart": ("systemDevice", {"@id": "ex:SecureZone"}),
    "isA": ("purpose", {"@id": "mosaicrown:statistical"}),
    "isAllOf": ("event", [{"@id": "ex:Audit"}, {"@id": "ex:Review"}]),
    "isAnyOf": ("language", ["de", "it"]),
    "isNoneOf": ("recipient", [{"@id": "ex:Press"}, {"@id": "ex:Insurers"}]),
    "isPartOf": ("spatial", {"@id": "ex:Europe"}),
    "lt": ("dateTime", END),
    "lteq": ("count", 10),
    "neq": ("media", "print"),
}
COLUMNS: Mapping[str, Any] = {
    "mosaicrown:identifier": ["http://example.com/Visits/Name"],
    "mosaicrown:quasi-identifier": [
        "http://example.com/Visits/Zip",
        "http://example.com/Visits/BirthDate",
    ],
    "mosaicrown:sensitive": ["http://example.com/Visits/Diagnosis"],
    "pe:insensitive": ["http://example.com/Visits/Ward"],
    "pe:masked": [
        {"@id": "http://example.com/Visits/Cost", "pe:masking": "rounding", "pe:base": 100}
    ],
    "pe:pseudonymize": ["http://example.com/Visits/Patient"],
    "pe:redact": ["http://example.com/Visits/Note"],
    "pe:privacyUnit": "http://example.com/Visits/Patient",
    "pe:stratifiedBy": ["http://example.com/Visits/Ward"],
    "pe:joinOn": ["http://example.com/Visits/Patient", "http://example.com/Claims/Insured"],
}
VALUES: Mapping[str, Any] = {
    "pe:pseudonymScope": "cohort-2026",
    "pe:sampleShare": 0.1,
    "pe:sampleSize": 10_000,
    "pe:weightColumn": "weight",
    "mosaicrown:k": 10,
    "mosaicrown:l": 3,
    "pe:c": 4,
    "pe:t": 0.2,
    "pe:alpha": 0.5,
    "pe:beta": 1,
    "pe:delta": 1.5,
    "pe:algorithm": "full-domain",
    "pe:partitioning": "relaxed",
    "pe:dimensionality": "single",
    "pe:score": "entropy",
    "pe:polish": True,
    "pe:maxSuppression": 0.01,
    "pe:maxUniqueKept": 0.05,
    "pe:composition": "intersected",
    "pe:loss": "height",
    "pe:missing": "wildcard",
    "pe:buckets": "distinct-l",
}
GUIDING: Mapping[str, Any] = {
    "pe:label": "http://example.com/Visits/Diagnosis",
    "pe:guide": "RandomForestClassifier",
    "pe:guideLabels": "hard",
    "pe:representative": "nearest",
}
"""What a policy says of the predictions by which accuracy-guided classes are cut."""
SETTINGS: Mapping[str, Mapping[str, Any]] = {
    "pe:generalization": {"pe:generalization": "calendar"},
    "pe:weight": {"pe:weight": 2},
    "pe:order": {"pe:order": "frequency"},
    "pe:taxonomy": {"pe:generalization": "taxonomy", "pe:taxonomy": "zip.csv"},
    "pe:unlisted": {
        "pe:generalization": "taxonomy",
        "pe:taxonomy": "zip.csv",
        "pe:unlisted": "root",
    },
    "pe:mask": {"pe:generalization": "prefix", "pe:mask": "#"},
    "pe:fanout": {"pe:generalization": "interval", "pe:precision": 5, "pe:fanout": 4},
    "pe:precision": {"pe:generalization": "interval", "pe:precision": 5},
    "pe:maxSuppression": {"pe:maxSuppression": 0.1},
}
MASKED: Mapping[str, Mapping[str, Any]] = {
    "rounding": {"pe:base": 100},
    "random-rounding": {"pe:base": 100},
    "top-coding": {"pe:threshold": 100},
    "bottom-coding": {"pe:tail": 20, "pe:replacement": "label"},
    "recoding": {"pe:taxonomy": "cost.csv", "pe:level": 1},
    "noise": {"pe:sdShare": 0.1, "pe:distribution": "laplace"},
    "correlated-noise": {"pe:varianceShare": 0.1, "pe:variant": "kim"},
    "multiplicative-noise": {"pe:logSd": 0.1},
    "rank-swapping": {"pe:p": 0.05, "pe:variant": "distribution"},
    "shuffling": {"pe:given": {"@id": "http://example.com/Visits/Age"}},
    "pram": {"pe:keep": 0.8, "pe:variant": "invariant"},
    "microaggregation": {"pe:groupSize": 3, "pe:together": "money"},
    "pixelation": {
        "pe:blockSize": 4,
        "pe:padding": 255,
        "pe:height": 28,
        "pe:width": 28,
        "pe:channels": 1,
    },
}
"""The settings of a masked column, by its masking."""
OF_AUDITS: Mapping[str, tuple[str, Any]] = {
    "mosaicrown:method": ("eq", "membership-inference"),
    "pe:precision": ("lteq", 0.6),
    "pe:recall": ("lteq", 0.7),
    "pe:auc": ("lt", 0.6),
    "pe:tprAtFpr": ("lteq", 0.02),
    "pe:fpr": ("eq", 0.001),
    "pe:attack": ("isAllOf", ["loss", "lira-offline"]),
    "pe:linked": ("lteq", 0.05),
    "pe:inferred": ("lteq", 0.1),
    "pe:advantage": ("lteq", 0.1),
    "pe:learned": ("isAllOf", ["http://example.com/Visits/Diagnosis"]),
    "pe:uniques": ("lteq", 0),
    "pe:meanRisk": ("lteq", 0.02),
    "pe:largestRisk": ("lteq", 0.2),
    "pe:presence": ("lteq", 0.5),
    "pe:populationUniques": ("lteq", 0.01),
    "pe:population": ("eq", "http://example.com/Register"),
    "pe:known": ("isAllOf", ["http://example.com/Visits/Age"]),
    "pe:shadowModels": ("eq", 4),
    "pe:attempts": ("eq", 3),
    "pe:smallestLeaf": ("gteq", 20),
    "pe:rareValues": ("lteq", 0),
    "pe:label": ("eq", "http://example.com/Visits/Diagnosis"),
    "pe:feature": ("isAllOf", ["http://example.com/Visits/Zip"]),
    "pe:model": ("eq", "RandomForestClassifier"),
    "pe:trainingShare": ("eq", 0.2),
    "pe:generators": ("gteq", 5),
    "pe:setPValue": ("gteq", 0.01),
    "pe:excessCopies": ("lteq", 0.02),
    "pe:holdoutShare": ("eq", 0.3),
}
OF_READING: Mapping[str, tuple[str, Any]] = {
    "pe:outputCheck": ("eq", "sacro"),
    "pe:minUnits": ("gteq", 20),
    "pe:maxGroupShare": ("lteq", 0.8),
    "pe:maxModeShare": ("lteq", 0.8),
    "pe:maxLargestShare": ("lteq", 0.5),
    "pe:maxTwoLargestShare": ("lteq", 0.8),
    "pe:pPercent": ("gteq", 0.15),
    "pe:minDegreesOfFreedom": ("gteq", 20),
    "pe:unitsBeyondPercentile": ("gteq", 20),
    "pe:percentileLadder": ("eq", "0.5:20 0.25:40"),
    "pe:zerosDisclosive": ("eq", False),
    "pe:roundBase": ("eq", 10),
    "pe:significantDigits": ("lteq", 3),
    "pe:secondary": ("eq", "exact"),
    "pe:mitigation": ("eq", "review"),
    "pe:ledgerScope": ("eq", "organisation"),
    "pe:privacyUnit": ("eq", "http://example.com/Visits/Patient"),
    "pe:nestedColumns": (
        "isAllOf",
        ["http://example.com/Visits/District", "http://example.com/Visits/Region"],
    ),
}
"""What refines reading an answer, each with its operator and a value."""
READING_VALUES: Mapping[str, tuple[str, str]] = {
    "pe:outputCheck": ("the name of a profile", "required"),
    "pe:minUnits": ("an integer of 2 or more", "the profile's"),
    "pe:maxGroupShare": ("a number above 0, at most 1", "the profile's"),
    "pe:maxModeShare": ("a number above 0, at most 1", "the profile's"),
    "pe:maxLargestShare": ("a number above 0, at most 1", "the profile's"),
    "pe:maxTwoLargestShare": ("a number above 0, at most 1", "the profile's"),
    "pe:pPercent": ("a number above 0, at most 10", "the profile's"),
    "pe:minDegreesOfFreedom": ("an integer of 1 or more", "the profile's"),
    "pe:unitsBeyondPercentile": ("an integer of 1 or more", "the profile's"),
    "pe:percentileLadder": (
        "steps `SHARE:UNITS`, the largest share, 0.5 at most, first",
        "the profile's",
    ),
    "pe:zerosDisclosive": ("true or false", "the profile's"),
    "pe:roundBase": ("an integer of 2 or more", "the profile's"),
    "pe:significantDigits": ("an integer from 1 to 15", "the profile's"),
    "pe:secondary": ("none, exact or interval", "interval"),
    "pe:mitigation": ("deny, suppress, round, random-rounding, noise or review", "suppress"),
    "pe:ledgerScope": ("assignee, organisation, project or dataset", "dataset"),
    "pe:privacyUnit": ("a column of what is read", "none: each row is of another"),
    "pe:nestedColumns": ("two or more columns of what is read", "none"),
}
"""What each of them takes, and what holds where it is not given."""
DISTANCES: Mapping[str, Mapping[str, Any]] = {
    "pe:taxonomy": {"pe:distance": "hierarchical", "pe:taxonomy": "diagnoses.csv"},
    "pe:distance": {"pe:distance": "ordered"},
}
RELEASES: Mapping[str, tuple[str, Any]] = {
    "pe:privacyUnit": ("eq", "http://example.com/Visits/Patient"),
    "pe:neighbours": ("eq", "add-or-remove"),
    "pe:maxGroupsPerUnit": ("lteq", 3),
    "pe:maxRowsPerGroup": ("lteq", 2),
    "pe:epsilon": ("lteq", {"@value": "0.5", "@type": "xsd:decimal"}),
    "pe:delta": ("lteq", "1e-7"),
    "pe:mechanism": ("isAnyOf", ["discrete-laplace", "discrete-gaussian"]),
    "pe:selection": ("isAnyOf", ["permute-and-flip"]),
    "pe:release": ("eq", {"@id": "ex:Visits/wards"}),
}
"""What refines a release under differential privacy, each with its operator and a value."""
OF_CATEGORIES = {"pe:categories": ["surgery", "maternity"], "pe:otherwise": "another ward"}
OF_NUMBERS = {"pe:lower": 0, "pe:upper": 5000, "pe:grid": 50, "pe:missingAs": 500}
RANDOMISED: Mapping[str, Mapping[str, Any]] = {
    "k-ary-randomised-response": {**OF_CATEGORIES, "pe:share": 2},
    "symmetric-unary-encoding": OF_CATEGORIES,
    "optimised-unary-encoding": OF_CATEGORIES,
    "optimised-local-hashing": OF_CATEGORIES,
    "duchi": OF_NUMBERS,
    "piecewise": OF_NUMBERS,
    "private-pixelation": {
        "pe:blockSize": 4,
        "pe:pixelsChanged": 16,
        "pe:height": 28,
        "pe:width": 28,
        "pe:channels": 1,
        "pe:padding": 255,
    },
}
"""The settings of a randomised column, by its randomiser."""
RANDOMISING: Mapping[str, tuple[str, Any]] = {
    "pe:epsilon": ("lteq", {"@value": "0.5", "@type": "xsd:decimal"}),
    "pe:compose": ("eq", "sample-one-attribute"),
    "pe:privacyUnit": ("eq", "http://example.com/Visits/Patient"),
}
"""What refines a table that is randomised, besides its columns, each with its operator."""
SYNTHESISED: Mapping[str, tuple[str, Any]] = {
    "pe:synthesised": (
        "isAllOf",
        ["http://example.com/Visits/Ward", "http://example.com/Visits/Age"],
    ),
    "pe:synthesiser": ("eq", "sequential-trees"),
    "pe:syntheticRows": ("eq", 2000),
    "pe:leafSize": ("eq", 50),
    "pe:privacyUnit": ("eq", "http://example.com/Visits/Patient"),
    "mosaicrown:identifier": ("isAllOf", ["http://example.com/Visits/Patient"]),
}
"""What refines a table whose rows are made up, each with its operator."""
SYNTHETIC = {
    "pe:function": "synthetic",
    "pe:of": WARD,
    "pe:candidates": ["surgery", "maternity", ""],
}
OF_QUERIES: Mapping[str, Any] = {
    "pe:groupBy": {"pe:groupBy": [WARD, "http://example.com/Visits/Sex"]},
    "pe:keys": {"pe:groupBy": [WARD], "pe:keys": {"@id": "http://example.com/wards.csv"}},
    "pe:aggregate": {"pe:groupBy": [WARDS], "pe:aggregate": [UNITS, {"pe:function": "count"}]},
    "pe:rows": {"pe:rows": 5000, "pe:aggregate": [SYNTHETIC]},
}
FIGURES: Mapping[str, Any] = {
    "count-units": UNITS,
    "count": {"pe:function": "count"},
    "sum": {"pe:function": "sum", "pe:of": COST, "pe:lower": 0, "pe:upper": 5000, "pe:grid": 1},
    "mean": {"pe:function": "mean", "pe:of": COST, "pe:lower": 0, "pe:upper": 5000, "pe:grid": 1},
    "variance": {
        "pe:function": "variance",
        "pe:of": COST,
        "pe:lower": 0,
        "pe:upper": 500,
        "pe:grid": 10,
    },
    "quantile": {
        "pe:function": "quantile",
        "pe:of": COST,
        "pe:at": 0.5,
        "pe:candidates": [0, 5000, 50],
    },
    "histogram": {
        "pe:function": "histogram",
        "pe:of": WARD,
        "pe:candidates": ["surgery", "maternity"],
    },
    "top-k": {
        "pe:function": "top-k",
        "pe:of": WARD,
        "pe:k": 1,
        "pe:candidates": ["surgery", "maternity"],
    },
    "synthetic": SYNTHETIC,
}
"""A figure of a table for each function."""
OF_FIGURES: Mapping[str, Any] = {
    **dict.fromkeys(("pe:function", "pe:of", "pe:lower", "pe:upper", "pe:grid"), FIGURES["sum"]),
    "pe:at": FIGURES["quantile"],
    "pe:candidates": FIGURES["histogram"],
    "pe:k": FIGURES["top-k"],
    "pe:share": {**UNITS, "pe:share": 0.25},
    "pe:name": {**UNITS, "pe:name": "patients"},
}
RENEWED = {"pe:renewal": "P1Y", "pe:lifetimeEpsilon": 30, "pe:lifetimeDelta": "5e-5"}
OF_BUDGETS: Mapping[str, Any] = {
    "pe:over": {"pe:over": "http://example.com/Visits"},
    "pe:epsilon": {"pe:epsilon": "2.5"},
    "pe:delta": {"pe:delta": "1e-5"},
    "pe:scope": {"pe:scope": "allAssignees"},
    **dict.fromkeys(("pe:renewal", "pe:lifetimeEpsilon", "pe:lifetimeDelta"), RENEWED),
}
