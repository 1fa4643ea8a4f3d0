"""Options and arguments of well-known programs that neither write files nor run commands. A star in a rule matches only
these (see `wildcards`); anything else has to be spelled out in the rule."""

from __future__ import annotations

from typing import NamedTuple


class Limits(NamedTuple):
    """The arguments of one program that a star may match."""

    flags: str = ""
    """Short options without a value, and the characters of values attached to them."""
    valued: str = ""
    """Short options whose value is the rest of the word, or the next word."""
    long: frozenset[str] = frozenset()
    """Long options, optionally with `=value`. Abbreviations don't count."""
    plain: int | None = None
    """Maximum number of words that aren't options (None: no limit)."""
    never: tuple[str, ...] = ()
    """Prefixes that no word may have."""

    def reads(self, option: str) -> tuple[bool, bool]:
        """Return whether an option is harmless, and whether the next word is its value."""
        if option.startswith("--"):
            name, _, value = option.partition("=")
            return name in self.long and not self.forbids(value), False
        for place, letter in enumerate(option[1:], 1):
            if letter in self.valued:
                return not self.forbids(option[place + 1 :]), place == len(option) - 1
            if letter not in self.flags:
                return False, False
        return True, False

    def forbids(self, word: str) -> bool:
        """Return whether an argument, or the value of an option, isn't harmless."""
        return word.casefold().startswith(self.never)


def _long(*texts: str) -> frozenset[str]:
    return frozenset(f"--{name}" for text in texts for name in text.split())


_DIGITS = "0123456789"
_OTHER_SCHEMES = (
    *("dict:", "file:", "ftp:", "ftps:", "gopher:", "gophers:", "imap:", "imaps:", "ldap:", "ldaps:", "mqtt:", "pop3:"),
    *("pop3s:", "rtsp:", "scp:", "sftp:", "smb:", "smbs:", "smtp:", "smtps:", "telnet:", "tftp:", "ws:", "wss:"),
)

LIMITS = {
    "sed": Limits(
        "nErsuz", "e", _long("quiet silent expression regexp-extended", "null-data separate unbuffered posix")
    ),
    "curl": Limits(
        "fsSLIivkGgNqZ46#",
        "mHAer",
        _long(
            "silent show-error fail fail-with-body location head",
            "include verbose compressed max-time connect-timeout",
            "header user-agent referer retry retry-delay retry-max-time",
            "retry-all-errors ipv4 ipv6 insecure get globoff",
            "http1.0 http1.1 http2 http3 progress-bar no-progress-meter",
            "range max-redirs no-buffer tlsv1.2 tlsv1.3 url",
            "version help parallel",
        ),
        never=("@", *_OTHER_SCHEMES),
    ),
    "wget": Limits(
        "qSdvO-46",
        "TtUw",
        _long(
            "quiet spider server-response timeout tries user-agent",
            "header no-check-certificate no-verbose verbose",
            "output-document max-redirect inet4-only inet6-only",
            "https-only compression wait version help",
        ),
        never=("ftp:", "ftps:"),
    ),
    "uniq": Limits(
        f"cdDiuz{_DIGITS}",
        "fsw",
        _long(
            "count repeated all-repeated group ignore-case unique", "zero-terminated skip-fields skip-chars check-chars"
        ),
        plain=1,
    ),
    "shuf": Limits("erz", "in", _long("echo repeat zero-terminated input-range head-count")),
    "iconv": Limits("cls", "ft", _long("from-code to-code list silent verbose")),
    "xxd": Limits("abCdeEiprRuv", "cglosn", plain=1),
    "sdiff": Limits("abBdEHilstW", "wI", _long("width suppress-common-lines ignore-case", "text minimal left-column")),
    "diff3": Limits("aAeEmTxX3i", "", _long("text merge show-all show-overlap easy-only overlap-only")),
    "patch": Limits(
        f"RNlsfucnt{_DIGITS}",
        "pFi",
        _long("dry-run strip reverse forward silent quiet verbose", "force batch fuzz ignore-whitespace input unified"),
    ),
    "make": Limits(
        f"BdikmnpqrRsStvwjl{_DIGITS}",
        "",
        _long(
            "always-make dry-run just-print recon keep-going silent",
            "quiet jobs load-average no-print-directory question",
            "print-directory print-data-base debug trace version help",
            "warn-undefined-variables output-sync no-keep-going",
            "no-builtin-rules ignore-errors",
        ),
    ),
    "json.tool": Limits("", "", _long("sort-keys no-ensure-ascii json-lines", "indent tab no-indent compact"), plain=1),
    "less": Limits("EeFfiIMmNnQqRrSsXx", "", _long("quit-if-one-screen RAW-CONTROL-CHARS chop-long-lines no-init")),
    "tar": Limits(
        "tvzjJxcpkmhaf",
        "C",
        _long(
            "list extract create file verbose gzip xz bzip2 zstd",
            "auto-compress directory strip-components exclude",
            "wildcards no-same-owner no-same-permissions keep-old-files",
        ),
    ),
}
LIMITS["gsed"] = LIMITS["sed"]
LIMITS["gmake"] = LIMITS["make"]
LIMITS["gtar"] = LIMITS["bsdtar"] = LIMITS["tar"]

PIP_READING = {
    "list": Limits(
        "olveq",
        "",
        _long(
            "outdated uptodate local user not-required format pre",
            "exclude exclude-editable include-editable editable",
            "verbose quiet no-color no-input isolated disable-pip-version-check no-cache-dir",
        ),
    ),
    "show": Limits("fvq", "", _long("files verbose quiet no-color no-input", "isolated disable-pip-version-check")),
    "freeze": Limits(
        "lvq", "", _long("local user all exclude exclude-editable", "verbose quiet no-color isolated no-input")
    ),
    "check": Limits("vq", "", _long("verbose quiet no-color isolated no-input")),
}
"""Commands of pip that only print. The others install code, and therefore run it, so a star after them matches
anything."""

# -- git

GIT_LEADING = frozenset({"--no-pager", "-P", "--no-optional-locks", "--version", "--help"})
"""Options before the subcommand."""
GIT_LEADING_VALUED = frozenset(
    {"-C", "-c", "--git-dir", "--work-tree", "--namespace", "--super-prefix", "--config-env"}
)

_DIFF = _long(
    "stat numstat shortstat dirstat compact-summary name-only",
    "name-status patch no-patch raw summary patch-with-stat",
    "color no-color word-diff color-words color-moved no-color-moved",
    "cached staged unified ignore-all-space check cc",
    "ignore-space-change ignore-space-at-eol ignore-blank-lines",
    "ignore-submodules minimal patience histogram anchored",
    "diff-algorithm find-renames find-copies find-copies-harder",
    "no-renames diff-filter full-index abbrev no-index text",
    "exit-code quiet relative no-relative no-ext-diff no-textconv",
    "function-context inter-hunk-context merge-base binary",
    "submodule src-prefix dst-prefix no-prefix line-prefix",
    "pickaxe-all pickaxe-regex stat-width stat-name-width",
    "word-diff-regex ws-error-highlight root",
)
_LOG = _DIFF | _long(
    "oneline graph no-graph decorate no-decorate decorate-refs",
    "all branches tags remotes glob exclude since until after",
    "before author committer grep invert-grep all-match max-count",
    "skip format pretty date reverse merges no-merges follow",
    "first-parent topo-order date-order author-date-order abbrev-commit",
    "no-abbrev-commit left-right left-only right-only",
    "cherry cherry-pick cherry-mark no-walk regexp-ignore-case",
    "extended-regexp fixed-strings perl-regexp boundary source",
    "simplify-by-decoration full-history dense sparse simplify-merges",
    "ancestry-path parents children notes no-notes",
    "walk-reflogs reflog not count objects max-parents min-parents",
    "relative-date expand-tabs clear-decorations",
    "timestamp full-diff log-size remove-empty",
)
_DIFF_FLAGS = f"pusRwbzBMCDaWtrcm{_DIGITS}"
_TRANSFER = _long("all dry-run force quiet verbose progress no-progress", "atomic tags ipv4 ipv6 recurse-submodules")
_MERGE = _long("ff no-ff ff-only squash no-squash commit no-commit", "edit no-edit stat no-stat no-verify signoff")
_SEQUENCE = _long("abort continue skip quit")
_REFS = _long(
    "sort format contains no-contains merged no-merged points-at", "color no-color column no-column ignore-case"
)

_READING = {
    "annotate": Limits("blrtfnpscewMC", "LS", _long("porcelain line-porcelain date since show-name root abbrev")),
    "blame": Limits(
        "blrtfnpscewMC",
        "LS",
        _long("porcelain line-porcelain incremental date since show-name", "show-number show-email root reverse abbrev")
        | _long("ignore-rev first-parent color-lines color-by-age"),
    ),
    "cat-file": Limits("tsep"),
    "check-attr": Limits("az", "", _long("all cached stdin")),
    "check-ignore": Limits("qvnz", "", _long("quiet verbose non-matching no-index")),
    "count-objects": Limits("vH", "", _long("verbose human-readable")),
    "describe": Limits(
        "",
        "",
        _long("tags all always dirty broken abbrev long match exclude", "contains exact-match candidates first-parent"),
    ),
    "diff": Limits(_DIFF_FLAGS, "USGl", _DIFF),
    "diff-files": Limits(_DIFF_FLAGS, "USGl", _DIFF),
    "diff-index": Limits(_DIFF_FLAGS, "USGl", _DIFF),
    "diff-tree": Limits(_DIFF_FLAGS, "USGl", _DIFF | _LOG),
    "for-each-ref": Limits("", "", _REFS | _long("count exclude")),
    "grep": Limits(
        f"invwlLcEFPGaIhHzpqWro{_DIGITS}",
        "eABCm",
        _long(
            "ignore-case line-number count files-with-matches files-without-match",
            "name-only word-regexp invert-match",
            "extended-regexp basic-regexp fixed-strings perl-regexp",
            "cached untracked no-index and or not all-match quiet",
            "max-depth context after-context before-context function-context",
            "show-function heading break color no-color",
            "column only-matching text null full-name max-count",
            "recursive no-recursive exclude-standard threads",
        ),
    ),
    "log": Limits(_DIFF_FLAGS + "iEFPgqh", "nLUSGl", _LOG),
    "ls-files": Limits(
        "cdmosktuzvfi",
        "x",
        _long(
            "cached deleted modified others ignored stage unmerged",
            "killed exclude exclude-standard error-unmatch abbrev",
            "full-name directory no-empty-directory deduplicate recurse-submodules eol",
        ),
    ),
    "ls-tree": Limits(
        "drtlz", "", _long("name-only name-status full-name full-tree", "long abbrev format object-only")
    ),
    "merge-base": Limits("a", "", _long("all is-ancestor octopus independent fork-point")),
    "name-rev": Limits("", "", _long("tags refs exclude all name-only", "always undefined no-undefined")),
    "rev-list": Limits(_DIFF_FLAGS + "iEFPg", "n", _LOG),
    "rev-parse": Limits(
        "q",
        "",
        _long(
            "show-toplevel abbrev-ref short verify quiet git-dir",
            "absolute-git-dir git-common-dir git-path sq symbolic",
            "symbolic-full-name is-inside-work-tree is-inside-git-dir",
            "is-bare-repository show-prefix show-cdup all since",
            "branches tags remotes show-superproject-working-tree is-shallow-repository",
            "local-env-vars disambiguate until",
        ),
    ),
    "shortlog": Limits(_DIFF_FLAGS + "nsecEFPi", "", _LOG | _long("numbered summary email group committer")),
    "show": Limits(_DIFF_FLAGS + "iEFPgq", "nLUSGl", _LOG),
    "show-ref": Limits("dqs", "", _long("head heads tags branches verify hash", "abbrev dereference quiet exists")),
    "status": Limits(
        "sbvzu",
        "",
        _long(
            "short branch porcelain long verbose untracked-files",
            "ignored ignore-submodules column no-column show-stash",
            "ahead-behind no-ahead-behind renames no-renames find-renames",
        ),
    ),
    "version": Limits("", "", _long("build-options")),
    "whatchanged": Limits(_DIFF_FLAGS + "iEFPg", "nL", _LOG),
}
GIT_READING = frozenset(_READING)
"""Subcommands that only read, so a star may match them."""
GIT_LISTINGS: frozenset[tuple[str, ...]] = frozenset(
    {("branch",), ("branch", "-a"), ("branch", "-r"), ("branch", "-v"), ("branch", "-vv"), ("branch", "--list")}
    | {("branch", "--show-current"), ("remote",), ("remote", "-v"), ("stash", "list"), ("tag",), ("tag", "-l")}
    | {("tag", "--list"), ("worktree", "list"), ("config", "--list"), ("config", "-l"), ("reflog",)}
)
"""Listing forms of subcommands that otherwise write."""

GIT = _READING | {
    "add": Limits(
        "AuvnfNp", "", _long("all no-all update verbose dry-run force intent-to-add", "patch renormalize chmod refresh")
    ),
    "am": Limits("3q", "", _SEQUENCE | _long("3way quiet signoff keep-cr")),
    "apply": Limits(
        "R3v", "pC", _long("check stat numstat summary index cached", "3way reverse reject verbose whitespace")
    ),
    "archive": Limits("lv", "", _long("list verbose format prefix worktree-attributes")),
    "bisect": Limits("", "", _long("no-checkout first-parent"), never=("run",)),
    "branch": Limits(
        "avrlmMdDcCfqti",
        "u",
        _REFS
        | _long("list all remotes verbose show-current", "delete move copy force track quiet")
        | _long("no-track set-upstream-to unset-upstream"),
    ),
    "checkout": Limits(
        "qfdtlmp",
        "bB",
        _long("detach force quiet track no-track orphan ours", "theirs merge conflict patch guess no-guess")
        | _long("progress no-progress overlay no-overlay recurse-submodules"),
    ),
    "cherry-pick": Limits("nx", "m", _SEQUENCE | _long("no-commit mainline no-edit signoff allow-empty ff")),
    "clean": Limits("dfnqxX", "e", _long("force dry-run quiet exclude")),
    "clone": Limits(
        "qvnl46",
        "boj",
        _long(
            "quiet verbose progress no-checkout bare mirror origin",
            "branch depth shallow-since single-branch jobs sparse",
            "no-single-branch tags no-tags recurse-submodules shallow-submodules",
            "filter local no-local no-hardlinks",
            "dissociate ipv4 ipv6",
        ),
    ),
    "commit": Limits(
        "avqns",
        "mC",
        _long(
            "message all amend no-edit verbose quiet no-verify signoff",
            "allow-empty allow-empty-message dry-run short only",
            "porcelain fixup squash reset-author author date include",
            "untracked-files trailer cleanup no-gpg-sign",
        ),
    ),
    "config": Limits(
        "lz",
        "",
        _long(
            "list get get-all get-regexp show-origin show-scope", "global local system worktree name-only type default"
        )
        | _long("null bool int path includes"),
        plain=1,
        never=("edit",),
    ),
    "fetch": Limits(
        f"apqtfvn46{_DIGITS}",
        "j",
        _TRANSFER
        | _long("append depth deepen unshallow prune prune-tags", "no-tags jobs filter refetch shallow-since")
        | _long("multiple no-recurse-submodules"),
    ),
    "init": Limits("q", "b", _long("quiet bare initial-branch object-format")),
    "ls-remote": Limits("qhtb", "", _long("heads tags branches refs quiet", "exit-code get-url sort symref")),
    "merge": Limits("qvn", "mX", _MERGE | _SEQUENCE | _long("message quiet verbose allow-unrelated-histories")),
    "mv": Limits("fknv", "", _long("force dry-run verbose sparse")),
    "pull": Limits(
        "qvrpt",
        "j",
        _TRANSFER
        | _MERGE
        | _long("rebase no-rebase autostash no-autostash", "prune depth jobs no-tags")
        | _long("allow-unrelated-histories"),
    ),
    "push": Limits(
        "uqvnfd46",
        "",
        _TRANSFER
        | _long("mirror follow-tags set-upstream force-with-lease", "force-if-includes delete prune")
        | _long("porcelain no-verify branches thin no-thin"),
    ),
    "rebase": Limits(
        "qvn",
        "",
        _SEQUENCE
        | _long("autostash no-autostash onto keep-base quiet", "verbose stat no-stat rebase-merges root")
        | _long("autosquash no-autosquash no-verify update-refs no-ff force-rebase fork-point"),
    ),
    "remote": Limits("v", "", _long("verbose push add delete all")),
    "reset": Limits("qp", "", _long("soft mixed hard merge keep quiet patch no-refresh refresh")),
    "restore": Limits("qpSW", "s", _long("source staged worktree quiet ours", "theirs merge conflict patch overlay")),
    "revert": Limits("n", "m", _SEQUENCE | _long("no-commit mainline no-edit signoff")),
    "rm": Limits("rfnq", "", _long("cached force dry-run quiet ignore-unmatch sparse")),
    "stash": Limits("upkaq", "m", _long("include-untracked all keep-index message", "quiet index patch staged stat")),
    "submodule": Limits("q", "", _long("quiet cached init recursive remote depth jobs"), never=("foreach",)),
    "switch": Limits(
        "qfdtm", "cC", _long("create detach force quiet track no-track", "orphan guess no-guess merge conflict")
    ),
    "tag": Limits(f"aldnf{_DIGITS}", "m", _REFS | _long("annotate list delete force message")),
}
"""By subcommand. For subcommands that aren't listed, a star matches no option."""
