from html.parser import HTMLParser

from hypothesis import given
from hypothesis import strategies as st

from policy_engine.markup import html_table


class Reader(HTMLParser):
    def __init__(self):
        super().__init__()
        self.cells, self.tags, self._open = [], set(), False

    def handle_starttag(self, tag, _attrs):
        self.tags.add(tag)
        if tag in ("td", "th", "caption"):
            self.cells.append("")
        elif tag == "br":
            self.cells[-1] += "\n"

    def handle_data(self, data):
        if data.strip("\n") or (self.cells and "\n" not in data):
            self.cells[-1] += data


texts = st.text(st.characters(exclude_categories=["Cc", "Cs"]))


@given(texts, st.lists(st.tuples(texts, texts)))
def test_every_text_is_shown_as_it_is(caption, rows):
    reader = Reader()
    reader.feed(html_table(caption, ("a", "b"), rows))
    reader.close()
    assert reader.cells == [caption, "a", "b", *(cell for row in rows for cell in row)]
    assert reader.tags <= {"table", "caption", "thead", "tbody", "tr", "td", "th"}


def test_lines_of_a_cell_are_below_one_another():
    assert "<td>x<br>&lt;y&gt;</td>" in html_table("", ("", ""), [("a", "x\n<y>")])
