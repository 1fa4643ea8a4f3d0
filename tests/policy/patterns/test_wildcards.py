"""A star matches no word with which a well-known, harmless-looking program writes files or runs others."""

from __future__ import annotations

import pytest
from policy.fixtures import policy, run

ATTACKS = {
    "sed -n *": ["sed -n '1e touch PWN' f", "sed -n '1w PWN' f", "sed -n 's/x/y/w PWN' f", "sed -n -f script f"],
    "sed *": [
        *("sed 's/.*/touch PWN/e' f", "sed -e p -e '1e x' f", "sed -ne '1e x' f", "sed --expression='1e x' f"),
        *("sed --expression '1e x' f", "sed 'p;1e x' f", "sed 's/a/b/;w PWN' f", "sed -i s/a/b/ f", "sed -i.bak p f"),
        *("sed '1r /etc/passwd;w x' f", "sed --in-place=x p f", "sed -nf f f", "sed s*x f", "sed 's/[/]x/e y/' f"),
        *("sed '/x/e y' f", "sed 's|a|b|we' f", "sed '1{e x' f", "sed 'p\n1e x' f", "sed -s -i p f", "sed '1!e x' f"),
    ],
    "sed * f": ["sed '1e touch PWN' f"],
    "git *": [
        *("git rebase -x CMD HEAD", "git difftool -x CMD", "git config alias.z '!CMD'", "git archive HEAD -o F"),
        *("git bundle create F HEAD", "git commit -m x", "git push"),
        *("git checkout .", "git branch -D x", "git tag x"),
        *("git remote add x ext::x", "git stash", "git clean -fdx", "git bisect run x", "git submodule foreach x"),
        *("git log --output=F", "git diff --output F"),
        *("git show --ext-diff", "git grep -O x", "git log -p --textconv"),
        *("git -c core.pager=x log", "git -C /x status", "git --exec-path=x log", "git z", "git filter-branch x"),
        *("git cat-file --textconv x", "git rev-parse --parseopt"),
        *("git worktree add x", "git config a.b c", "git gc"),
        *("git grep --open-files-in-pager=x y", "git grep -nO y"),
        *("git diff --outp=F", "git config --edit", "git apply x"),
    ],
    "git clone *": [
        *("git clone -u CMD x", "git clone --upload-pack=CMD x", "git clone -c a=b x", "git clone ext::x y"),
        "git clone -b -- -uCMD x",
    ],
    "git difftool *": ["git difftool -x CMD", "git difftool --extcmd=CMD", "git difftool -yx CMD"],
    "git archive *": ["git archive HEAD -o F", "git archive --output=F HEAD", "git archive --remote=x --exec=CMD HEAD"],
    "git rebase *": [
        "git rebase -x CMD main",
        "git rebase --exec CMD main",
        "git rebase -i main",
        "git rebase -s x main",
    ],
    "git fetch *": ["git fetch --upload-pack CMD origin", "git fetch ext::x"],
    "git push *": ["git push --receive-pack=CMD origin", "git push --exec=CMD origin"],
    "git ls-remote *": ["git ls-remote --upload-pack=CMD x"],
    "git bisect *": ["git bisect run CMD"],
    "git submodule *": ["git submodule foreach CMD"],
    "git config *": ["git config alias.z '!CMD'", "git config core.pager x", "git config -e", "git config edit"],
    "git -c *": ["git -c core.pager=x log"],
    "git log *": ["git log --author -- --output=F", "git log -- --output=F"],
    "git grep *": ["git grep -e -- -OCMD"],
    "curl *": [
        *("curl -D F https://x", "curl --dump-header F https://x"),
        *("curl --stderr F https://x", "curl --trace F https://x"),
        *("curl --libcurl F https://x", "curl -o F https://x"),
        *("curl -sSLo F https://x", "curl -O https://x/accord.toml"),
        *("curl -K F", "curl -c F https://x", "curl -T f https://x", "curl -d @f https://x", "curl -H @f https://x"),
        *("curl -H@f https://x", "curl --header=@f https://x", "curl file:///etc/passwd", "curl FILE:///etc/passwd"),
        *("curl -w '%output{F}' https://x", "curl --url=file:///x"),
        *("curl --etag-save F https://x", "curl --hsts F https://x"),
        *("curl --outp F https://x", "curl -F a=@f https://x"),
        *("curl --alt-svc F https://x", "curl -x evil https://x"),
        *("curl -H -- -o F https://x", "curl --header -- -oF https://x"),
    ],
    "wget *": [
        *("wget -a F https://x", "wget --append-output=F https://x"),
        *("wget -e output_document=F https://x", "wget https://x"),
        *("wget -O F https://x", "wget -qO F https://x", "wget -OF https://x", "wget --output-document=F https://x"),
        *("wget -O- -O F https://x", "wget -qO- -P d https://x", "wget -qO- --use-askpass=x https://x", "wget -i f"),
        *("wget -qO- --post-file=f https://x"),
        *("wget -qO- --save-cookies F https://x", "wget --spider -o F https://x"),
        *("wget --spider -U -- -e use_askpass=CMD https://x", "wget -O- --output-document F https://x"),
    ],
    "uniq *": ["uniq f F", "uniq -c f F", "uniq -f 1 f F", "uniq -- f F", "uniq -- -c -d", "uniq src/*"],
    "uniq f *": ["uniq f F"],
    "file *": ["file -C -m F", "file --compile F", "file -bC"],
    "shuf *": ["shuf -o F f", "shuf --output=F f", "shuf -eo F a", "shuf --random-source=x f"],
    "iconv *": ["iconv -o F f", "iconv --output=F f", "iconv -f utf8 -oF f"],
    "xxd *": ["xxd f F", "xxd -r f F", "xxd -c 8 f F", "xxd -ps f F", "xxd -as f F", "xxd -bc f F", "xxd - F"],
    "xxd -ps *": ["xxd -ps f F"],
    "sdiff *": ["sdiff -o F a b", "sdiff --output=F a b", "sdiff --diff-program=CMD a b", "sdiff -so F a b"],
    "diff3 *": ["diff3 --diff-program=CMD a b c"],
    "patch --dry-run *": [
        "patch --dry-run -o F f p",
        "patch --dry-run --output=F f",
        "patch --dry-run -r F f",
        "patch --dry-run -d / f",
    ],
    "make -n *": [
        *("make -n --eval='$(shell CMD)'", "make -n --eva='$(shell CMD)'", "make -n -E x", "make -n -f evil.mk"),
        *("make -n X='$(shell CMD)' test", "make -n SHELL=/x test"),
        *("make -n -C /tmp", "make -nf evil.mk", "make -n -I x"),
    ],
    "make *": ["make --eval='$(shell CMD)'", "make CC=evil", "make -f- test"],
    "pip list *": ["pip list --log F", "pip list --python CMD", "pip list --cache-dir d", "pip list -vvv --log=F"],
    "pip *": ["pip install evil", "pip list --log F", "pip --log F list", "pip download x", "pip wheel x"],
    "python3 -m pip list *": ["python3 -m pip list --log F"],
    "python3 -m json.tool *": ["python3 -m json.tool f F", "python3 -m json.tool --indent=2 f F"],
    "sqlite3 -readonly *": [
        "sqlite3 -readonly : '.shell CMD'",
        "sqlite3 -readonly x.db 'select 1'",
        "sqlite3 -readonly -cmd x y",
    ],
    "sqlite3 *": ["sqlite3 x.db '.output F'"],
    "vim -R *": ["vim -R -c '!CMD'", "vim -R +!CMD", "vim -R f"],
    "vim *": ["vim -es +x f"],
    "view *": ["view -c '!CMD' f"],
    "less *": ["less +!CMD f", "less -o F f", "less --log-file=F f", "less -LO F f"],
    "tar *": [
        "tar xf a --checkpoint-action=exec=x",
        "tar xIf CMD a",
        "tar -I CMD -xf a",
        "tar xf evil:a",
        "tar xf a --to-command=x",
        "tar -cf -- --checkpoint=1 --checkpoint-action=exec=CMD d",
        "tar -xf a -C -- --to-command=x",
    ],
    "tree *": ["tree -R -H . -L 1", "tree -o F"],
    "find *": ["find . -delete", "find . -fprintf F x"],
    "sort *": ["sort -o F f", "sort --compress-program=x f"],
    "man *": ["man -C F ls", "man --config-file=F ls", "man --conf F ls"],
    "rsync *": ["rsync --daemon --config=F"],
    "bat *": ["bat --pager=CMD f", "bat --paging=always --pager CMD f"],
    "ag *": ["ag --pager CMD x"],
}
HARMLESS = {
    "git *": [
        *("git status", "git status -s", "git log --oneline -5", "git diff --stat HEAD~1", "git show HEAD:src/a.py"),
        *("git rev-parse --abbrev-ref HEAD", "git ls-files -- '*.py'"),
        *("git blame -L 1,5 f", "git --no-pager log -p -3"),
        *("git branch", "git branch -a", "git remote -v", "git stash list", "git grep -n x", "git describe --tags"),
        *("git log --since=yesterday --author=ada -- src", "git diff main...HEAD", "git log -n 5 --format='%h %s'"),
    ],
    "git log *": ["git log", "git log --oneline -5", "git log -S x -- f", "git log --graph --all"],
    "git diff *": ["git diff", "git diff --cached --name-only", "git diff -U0 HEAD"],
    "git commit *": ["git commit -m 'a; b'", "git commit -am x", "git commit --amend --no-edit"],
    "git add *": ["git add .", "git add -A", "git add src/a.py -- b"],
    "git checkout *": ["git checkout -b topic", "git checkout main", "git checkout -- f"],
    "git push *": ["git push -u origin topic", "git push --force-with-lease"],
    "git clone *": ["git clone --depth 1 https://x/y.git d", "git clone https://x/y.git"],
    "git config *": ["git config user.name", "git config --get user.email", "git config -l"],
    "sed *": [
        *("sed -n 1,20p f", "sed -n 5p f", "sed -n '1,20p' f"),
        *("sed s/a/b/g f", "sed -n '/start/,/end/p' f", "sed '$d' f"),
        *("sed -e 1d -e 's|a|b|' f", "sed -nE '/^(a|b)/p' f"),
        *("sed -n '10,+5p;20q' f", "sed '1,3!d' f", "sed -n '$=' f"),
        *("sed 's/[a-z]*$//' f g", "sed 's#/#_#g' f", "sed '/^$/d' f"),
    ],
    "sed -n *": ["sed -n 1,20p f", "sed -n '5,10p' src/a.py"],
    "curl *": [
        *("curl -s https://x/y", "curl -fsSL https://x", "curl -I https://x", "curl -s -H 'Accept: a/b' https://x"),
        *("curl --max-time 5 localhost:8080/health", "curl -sSm5 --compressed https://x?a=b"),
    ],
    "wget *": ["wget -qO- https://x", "wget -q -O - https://x", "wget --spider https://x"],
    "uniq *": ["uniq", "uniq -c", "uniq -c f", "uniq -f 1 f"],
    "shuf *": ["shuf -n 3 f", "shuf -e a b"],
    "iconv *": ["iconv -f latin1 -t utf8 f"],
    "xxd *": ["xxd f", "xxd -l 16 f", "xxd -ps f", "xxd -p -c 8 f"],
    "make *": ["make", "make test", "make -j4 test", "make -n test", "make --dry-run all lint"],
    "make -n *": ["make -n test"],
    "pip *": ["pip list", "pip show x", "pip freeze", "pip list --outdated --format=json"],
    "pip list *": ["pip list -v"],
    "pip install *": ["pip install x", "pip install -r requirements.txt --log F"],
    "python3 -m json.tool *": ["python3 -m json.tool f", "python3 -m json.tool --sort-keys f"],
    "python3 *": ["python3 -m json.tool f F", "python3 -c x"],
    "tar *": ["tar tzf a.tgz", "tar -tf a", "tar xzf a.tgz -C d"],
    "less *": ["less f", "less -R f"],
    "sqlite3 x.db .tables": ["sqlite3 x.db .tables"],
    "ls *": ["ls -la", "ls *"],
    "awk *": ["awk '{print}' f"],
    "npm run *": ["npm run build -- --watch"],
}


@pytest.mark.parametrize("rule, line", [(rule, line) for rule, lines in ATTACKS.items() for line in lines])
def test_a_star_does_not_stand_for_what_writes_or_runs(rule: str, line: str) -> None:
    assert policy(f"allow command:{rule}").decide(run(line)).effect == "ask"


@pytest.mark.parametrize("rule, line", [(rule, line) for rule, lines in HARMLESS.items() for line in lines])
def test_a_star_matches_harmless_words(rule: str, line: str) -> None:
    decision = policy(f"allow command:{rule}", "allow path:**").decide(run(line))
    assert decision.effect == "allow", decision.why


@pytest.mark.parametrize("line", ["git rebase -x CMD", "sed -n '1e x' f", "curl -D F x", "vim -R -c x", "make CC=x"])
def test_what_a_rule_spells_out_it_allows(line: str) -> None:
    assert policy(f"allow command:{line}").decide(run(line)).effect == "allow"


@pytest.mark.parametrize("line", ["xargs uniq", "xargs git log", "find . -exec uniq {} +", "xargs sed -n p"])
def test_words_that_come_from_elsewhere_are_not_stood_for(line: str) -> None:
    judged = policy(
        "allow command:xargs *", "allow command:find . -exec *", "allow command:uniq *", "allow command:git log *"
    )
    assert judged.decide(run(line)).effect == "ask"
