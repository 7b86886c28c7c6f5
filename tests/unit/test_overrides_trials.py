"""Registered trials: numbers that no register can have given out, and numbers as trials have them."""

from datetime import date

import pytest

from pytest_medfaith.checking.overrides.trials import impossible_trials

LATEST = date(2026, 9, 15)

INVENTED = [
    *(
        "NCT99999999",
        "NCT12345678",
        "NCT87654321",
        "NCT11111111",
        "NCT55555555",
        "NCT10000000",
        "NCT90210000",
    ),
    *(
        "nct 99999999",
        "NCT20240001",
        "NCT00000000",
        "NCT00000001",
        "NCT00000042",
        "NCT00000101",
        "NCT77001234",
    ),
    *("ISRCTN00000000", "ISRCTN000000", "EudraCT 2031-001113-21", "EudraCT number: 2029-004255-14"),
    *("EudraCT 2099-123456-78", "EU CT 2035-500014-26-00", "EU CT number: 2031-501234-11-00"),
    *("ACTRN12631000260763", "ACTRN12699000001695", "ACTRN99999999999999", "ACTRN12345678901234"),
    *("ACTRN00000000000000", "ChiCTR3100029308", "ChiCTR2900012345", "ChiCTR-TRC-30001234"),
    *("CTRI/2031/04/024775", "CTRI/2020/13/024775", "CTRI/2020/00/024775", "CTRI/2099/99/999999"),
    *("DRKS12345678", "DRKS99999999", "DRKS00000000", "DRKS 50001234", "UMIN123456789", "UMIN999999999"),
    *("UMIN000000000", "UMIN100000001", "jRCT0000000000"),
]

POSSIBLE = [
    *(
        "NCT03036150",
        "NCT01206062",
        "NCT03057977",
        "NCT03057951",
        "NCT02065791",
        "NCT03594110",
        "NCT04381936",
    ),
    *(
        "NCT00000620",
        "NCT01730534",
        "NCT01131676",
        "NCT01179048",
        "NCT01720446",
        "NCT03574597",
        "NCT03548935",
    ),
    *(
        "NCT04184622",
        "NCT04368728",
        "NCT04470427",
        "NCT00719186",
        "NCT 03036150",
        "nct03036150",
        "NCT07100000",
    ),
    *("NCT00000102", "NCT07654321", "NCT01234567", "ISRCTN50189673", "ISRCTN12345678", "ISRCTN83738774"),
    *("EudraCT 2020-001113-21", "EudraCT number 2015-004255-14", "EU CT 2022-500014-26-00"),
    *("EU CT number: 2026-501234-11-00", "ACTRN12605000001695", "ACTRN12613000260763", "ACTRN12626000000123"),
    *("ChiCTR2000029308", "ChiCTR2600012345", "ChiCTR-TRC-10001234", "CTRI/2020/04/024775"),
    *("CTRI/2026/012/024775", "DRKS00021238", "DRKS00036000", "UMIN000018460", "UMIN000056789"),
    *("jRCT2031200023", "jRCTs031180001", "NCT0303615", "DAPA-CKD", "PMID 99999999"),
]


@pytest.mark.parametrize("number", INVENTED)
def test_a_number_that_cannot_exist(number):
    claim = f"The trial {number} found fewer deaths."
    ((start, end, why),) = impossible_trials(claim, latest=LATEST)
    assert claim[start:end] == number
    assert why


@pytest.mark.parametrize("number", POSSIBLE)
def test_a_number_that_can_exist(number):
    assert list(impossible_trials(f"The trial {number} found fewer deaths.", latest=LATEST)) == []


def test_there_are_forty_of_each():
    assert min(len(set(INVENTED)), len(set(POSSIBLE))) >= 40


def test_the_bound_moves_with_the_clock():
    assert not list(impossible_trials("NCT12345678", latest=date(2032, 1, 1)))
