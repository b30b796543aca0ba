"""The pages of data, in a real browser on a real service."""

import pytest

CUSTOMERS = "CustomerID,ZIP,Amount\n" + "".join(f"{n},{40000 + n},{n}.5\n" for n in range(500))


def add_data(page, name, iri):
    page.get_by_label("Name", exact=True).fill(name)
    page.get_by_label("Identifier").fill(iri)
    page.get_by_role("button", name="Add", exact=True).click()


def upload(page, name, text):
    file = {"name": name, "mimeType": "text/csv", "buffer": text.encode()}
    page.get_by_label("File", exact=True).set_input_files(file)
    page.get_by_role("button", name="Upload").click()


def test_a_table_is_uploaded_and_its_columns_are_named_as_policies_do(open_page):
    page = open_page("/data/new")
    add_data(page, "Customers", "http://example.com/uploaded/Customer")
    upload(page, "customers.csv", CUSTOMERS)
    page.get_by_text("http://example.com/uploaded/Customer/ZIP").wait_for()
    assert page.locator("dl.facts dd").first.inner_text() == "500"


def test_roles_of_columns_are_proposed_changed_and_confirmed(open_page):
    page = open_page("/data/new")
    add_data(page, "Roles", "http://example.com/uploaded/Roles")
    upload(page, "customers.csv", CUSTOMERS)
    page.get_by_text("Proposed:").first.wait_for(timeout=60_000)
    assert page.get_by_label("Role of CustomerID").input_value() == "identifier"
    page.get_by_label("Role of Amount").select_option("sensitive")
    page.get_by_role("button", name="Confirm the roles of 3 columns").click()
    page.get_by_text("The roles of all columns are confirmed.").wait_for(timeout=60_000)
    page.reload()
    page.get_by_text("Confirmed.").nth(2).wait_for(timeout=60_000)
    assert page.get_by_label("Role of Amount").input_value() == "sensitive"


def test_what_a_column_becomes_is_shown_level_by_level(open_page, masking):
    page = open_page(f"/data/{masking[2]}")
    page.get_by_role("combobox", name="Column").select_option("age")
    page.get_by_role("button", name="Show its levels").click()
    levels = page.get_by_role("region", name="Levels of age").get_by_role("row")
    levels.first.wait_for(timeout=60_000)
    last = levels.last.get_by_role("cell").all_inner_texts()
    assert last[0] == "1"
    assert last[-1].endswith("(8)")


def test_a_way_to_generalise_that_does_not_suit_a_column_is_refused(open_page, masking):
    page = open_page(f"/data/{masking[2]}")
    page.get_by_role("combobox", name="Column").select_option("city")
    page.get_by_role("combobox", name="Generalised by").select_option("calendar")
    page.get_by_role("button", name="Show its levels").click()
    page.get_by_role("alert").get_by_text("Code ").wait_for(timeout=60_000)


def test_the_plan_of_a_policy_in_force_is_told_step_by_step(open_page, customers):
    page = open_page("/policies/new")
    page.get_by_label("Name", exact=True).fill("Planned")
    page.get_by_role("button", name="Create draft").click()
    page.get_by_role("button", name="Publish …").click()
    page.get_by_role("dialog").get_by_role("button", name="Publish").click()
    page.get_by_text("is published.").wait_for()
    page = open_page(f"/data/{customers}")
    names = "CustomerID,FirstName,LastName,Email,ZIP,BirthDate,TransactionTime,Amount,StoreCategory"
    upload(page, "customers.csv", f"{names}\n1,A,B,c,1,2000-01-01,10:00,1,food\n")
    page.get_by_role("combobox", name="Policy").select_option("Planned, version 1")
    page.get_by_role("button", name="Show the plan").click()
    page.get_by_text("Made coarser: ZIP, BirthDate, TransactionTime.").wait_for()


def test_a_file_that_is_not_a_table_is_refused_with_its_code(open_page):
    page = open_page("/data/new")
    add_data(page, "Broken", "http://example.com/uploaded/Broken")
    upload(page, "broken.parquet", "not a table")
    page.get_by_role("alert").get_by_text("Code C0").wait_for()
    assert page.get_by_text("None has arrived completely yet.").is_visible()


def test_an_identifier_that_is_taken_is_refused_and_what_was_typed_stays(open_page):
    for _ in range(2):
        page = open_page("/data/new")
        add_data(page, "Taken", "http://example.com/uploaded/Taken")
    page.get_by_role("alert").get_by_text("already").wait_for()
    assert page.get_by_label("Name", exact=True).input_value() == "Taken"


def test_data_are_removed_once_that_is_confirmed(open_page):
    page = open_page("/data/new")
    add_data(page, "Short-lived", "http://example.com/uploaded/Removed")
    page.get_by_role("button", name="Remove …").click()
    page.get_by_role("dialog").get_by_role("button", name="Remove").click()
    page.get_by_text("Short-lived is removed.").wait_for()
    page.get_by_role("heading", name="Data", exact=True).wait_for()
    assert page.get_by_role("link", name="Short-lived").count() == 0


@pytest.mark.parametrize("width", [320, 2560])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_page_of_a_dataset_is_accessible(open_page, accessibility, masking, scheme, width):
    page = open_page(f"/data/{masking[2]}", width, scheme)
    page.get_by_label("Role of age").wait_for(timeout=60_000)
    page.get_by_role("button", name="Show its levels").click()
    page.get_by_role("region", name="Levels of").wait_for(timeout=60_000)
    assert page.evaluate("document.documentElement.scrollWidth") == width
    assert accessibility(page) == []


@pytest.mark.parametrize("width", [320, 2560])
@pytest.mark.parametrize("path", ["/data", "/data/new"])
def test_pages_of_data_are_accessible(open_page, accessibility, path, width):
    page = open_page(path, width, "dark")
    page.get_by_role("heading", level=1).wait_for()
    assert page.evaluate("document.documentElement.scrollWidth") == width
    assert accessibility(page) == []


def test_models_are_added_where_data_are_and_code_is_refused(open_page, accessibility, tmp_path):
    page = open_page("/data")
    page.get_by_text("Add a model").click()
    for name, content in (("net.npz", b"\x80\x04]."), ("net.json", b'{"name": "GaussianNB"}')):
        (tmp_path / name).write_bytes(content)
        page.get_by_label("Name of the model").fill(name)
        page.get_by_label("Weights or description").set_input_files(tmp_path / name)
        page.get_by_role("button", name="Add the model").click()
        if name == "net.npz":
            page.get_by_text("Code A015").wait_for()
            assert accessibility(page) == []
    models = page.get_by_role("region", name="Models")
    models.get_by_role("row").filter(has_text="net.json").get_by_text("description").wait_for()
    assert models.get_by_text("net.npz").count() == 0
