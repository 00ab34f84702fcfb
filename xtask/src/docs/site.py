"""A hook of MkDocs: pages of the repository, as they are, become pages of the site.

README.md and the other pages in the root join those of docs/, README.md as the front page.  A link from file to file
becomes a link from page to page; one to a source file, which is no page, becomes plain text.  Pictures that pages show come along.
Words after the language of a fenced block are for `cargo xtask docs` only.
"""

import posixpath
import re
from pathlib import Path

from mkdocs.structure.files import File

ROOT = Path(__file__).parents[3]
FRONT = {"README.md": "index.md"}
BESIDE = ["ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"]
STYLE = "xtask/src/docs/site.css"

LINK = re.compile(r"(!?)\[((?:[^\]\[]|\[[^\]]*\])*)\]\(([^)\s]+)\)")
PLACES = {}  # path in the repository -> path on the site


def on_config(config):
    decisions = sorted(f"design/{path.name}" for path in (ROOT / "docs/design").glob("*.md"))
    [inside] = [part["Inside"] for part in config.nav if "Inside" in part]
    inside.append({"Decisions": decisions})
    return config


def on_files(files, config):
    for path in [*FRONT, *BESIDE]:
        add(files, config, path, FRONT.get(path, path))
    add(files, config, STYLE, "site.css")
    for file in files:
        if file.src_uri not in PLACES.values():
            PLACES[f"docs/{file.src_uri}"] = file.src_uri
    for page in [*PLACES]:
        if page.endswith(".md"):
            for bang, _, target in LINK.findall((ROOT / page).read_text()):
                picture = posixpath.normpath(posixpath.join(posixpath.dirname(page), target))
                if bang and picture not in PLACES:
                    add(files, config, picture, picture)
    return files


def add(files, config, path, place):
    files.append(File.generated(config, place, abs_src_path=str(ROOT / path)))
    PLACES[path] = place


def on_page_markdown(markdown, page, **_):
    place = page.file.src_uri
    path = next(path for path, at in PLACES.items() if at == place)

    def rewritten(match):
        bang, text, target = match.groups()
        target, mark, anchor = target.partition("#")
        if not target or "://" in target or target.startswith("mailto:"):
            return match.group(0)
        there = PLACES.get(posixpath.normpath(posixpath.join(posixpath.dirname(path), target)))
        if there is None:
            return text
        return f"{bang}[{text}]({posixpath.relpath(there, posixpath.dirname(place) or '.')}{mark}{anchor})"

    bare = re.sub(r"(?m)^(```\w+) .*$", r"\1", markdown)
    pieces = re.split(r"(?ms)(^```.*?^```$)", bare)
    return "".join(piece if piece.startswith("```") else LINK.sub(rewritten, piece) for piece in pieces)
