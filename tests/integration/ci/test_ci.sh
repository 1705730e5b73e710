#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# test_ci.sh SOURCE BUILD ...: the steps of action.yml as a runner would go through them, on a
# repository made here: a first commit, a change that grows, one that does not. Then the same by
# `scripts/ci local`, and GitLab's way to keep a store. Prints TAP.
set -u

source=$1
build=$2
action=$source/action.yml

if [ -n "${VOTREPORT_SANITIZED-}" ]; then
    echo '1..0 # SKIP a plain build tries the same'
    exit 0
fi
for tool in git cc; do
    command -v "$tool" >/dev/null 2>&1 || {
        echo "1..0 # SKIP no $tool here"
        exit 0
    }
done

work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
trap 'exit 99' HUP INT TERM
tests=0

# What the machine that runs this test is itself told by a CI must not be seen.
for name in $(env | sed -n 's/^\(GITHUB_[A-Z_]*\|GITLAB_CI\|CI\|CI_[A-Z_]*\|GATE_[A-Z_]*\|RUNNER_[A-Z_]*\)=.*/\1/p'); do
    unset "$name"
done
unset LD_PRELOAD VOTRACE_OUTPUT VOTRACE_STACKS VOTRACE_LIBRARY NO_COLOR
HOME=$work
GIT_CONFIG_GLOBAL=$work/gitconfig
export HOME GIT_CONFIG_GLOBAL
git config --global user.name Tester
git config --global user.email tester@example.org
git config --global init.defaultBranch main

# expect NAME STATUS COMMAND...: run it into $work/out, and compare its exit status.
expect() {
    expect_name=$1
    expect_wanted=$2
    shift 2
    "$@" >"$work/out" 2>&1
    expect_is=$?
    tests=$((tests + 1))
    if [ "$expect_is" -eq "$expect_wanted" ]; then
        echo "ok $tests - $expect_name"
    else
        echo "not ok $tests - $expect_name"
        echo "# exit status $expect_is instead of $expect_wanted"
        sed 's/^/# /' "$work/out"
    fi
    case $1 in
    said | same | test) ;; # they look at what the last one left
    *) cp "$work/out" "$work/log" ;;
    esac
}

# said FILE PATTERN: a line of it matches; the file is shown if none does.
said() {
    grep -Eq -- "$2" "$1" && return
    cat "$1"
    return 1
}

same() {
    [ "$1" = "$2" ] && return
    printf 'wanted:\n%s\ngot:\n%s\n' "$1" "$2"
    return 1
}

# ---- the repository ----

program_text() {
    cat <<EOT
#include <stdio.h>
#include <stdlib.h>
#include <votrace.h>

static char *table_fill(size_t rows)
{
    return malloc(rows * $1);
}

int main(void)
{
    votrace_region_begin("fill");
    char *table = table_fill(100000);
    votrace_region_end("fill");
    printf("%s\n", table ? "filled" : "no memory");
    free(table);
    return 0;
}
EOT
}

# change ROW_BYTES TEXT: a commit.
change() {
    program_text "$1" >"$work/project/table.c"
    printf '%s\n' "$2" >>"$work/project/README"
    git -C "$work/project" add -A
    git -C "$work/project" commit -q -m "$2"
}

# What a workflow would say as `run:`.
commands() {
    cat <<'EOT'
cc -O1 -g -o table table.c
votreport run --db "$GATE_DB" --name table.fill --param rows=100000 -- ./table
EOT
}

# ---- a runner, as far as action.yml needs one ----

# gh, which answers like GitHub: first there is no comment, later there is.
fake_gh() {
    cat >"$work/bin/gh" <<EOT
#!/bin/sh
printf '%s\n' "\$*" >>"$work/gh-calls"
[ ! -f "$work/gh-refuses" ] || { echo 'HTTP 403: Resource not accessible' >&2; exit 1; }
case "\$*" in
*--paginate*) [ ! -f "$work/comment" ] || echo 4711 ;;
*body=@*)
    for word; do
        case \$word in body=@*) cp "\${word#body=@}" "$work/comment" ;; esac
    done
    ;;
esac
EOT
    chmod +x "$work/bin/gh"
}

# An output of an earlier step of this job.
output_of() {
    sed -n "s|^$1=||p" "$work/job/output" | tail -n 1
}

restore_store() {
    restore_from=$work/cache/$(output_of base-key)
    if [ ! -d "$restore_from" ]; then
        restore_from=$work/cache/$(find "$work/cache" -maxdepth 1 -name "$(output_of base-prefix)*" \
            -printf '%T@ %f\n' | sort -n | tail -n 1 | cut -d ' ' -f 2-)
        [ "$restore_from" != "$work/cache/" ] || return 0
    fi
    mkdir -p "$(output_of store)" && cp -r "$restore_from/." "$(output_of store)"
}

save_store() {
    mkdir -p "$work/cache/$(output_of store-key)" &&
        cp -r "$(output_of store)/." "$work/cache/$(output_of store-key)"
}

# job EVENT [NAME=VALUE...]: a fresh machine; every line that action.yml runs, in its order, with
# what it puts in the environment, until one fails. The cache's steps are done where they stand.
job() (
    job_event=$1
    shift
    rm -rf "$work/job"
    mkdir -p "$work/job/temp/votrace-gate" "$work/cache"
    # The cache has votrace.
    ln -s "$work/stage" "$work/job/temp/votrace-gate/votrace"
    : >"$work/job/output"
    GITHUB_ACTIONS=true GITHUB_ACTION_PATH=$source RUNNER_TEMP=$work/job/temp
    GITHUB_OUTPUT=$work/job/output GITHUB_STEP_SUMMARY=$work/job/summary.md
    GITHUB_SHA=$(git -C "$work/project" rev-parse HEAD) GITHUB_REPOSITORY=somebody/table
    GITHUB_REF=refs/heads/main GITHUB_REF_NAME=main GITHUB_BASE_REF=
    GITHUB_WORKSPACE=$work/project GITHUB_EVENT_NAME=$job_event
    if [ "$job_event" = pull_request ]; then
        GITHUB_REF=refs/pull/7/merge GITHUB_REF_NAME=7/merge GITHUB_BASE_REF=main
    fi
    GATE_RUN=$(commands)
    export GITHUB_ACTIONS GITHUB_ACTION_PATH RUNNER_TEMP GITHUB_OUTPUT GITHUB_STEP_SUMMARY \
        GITHUB_SHA GITHUB_REPOSITORY GITHUB_REF GITHUB_REF_NAME GITHUB_BASE_REF \
        GITHUB_WORKSPACE GITHUB_EVENT_NAME GATE_RUN
    for job_setting; do
        export "${job_setting?}"
    done
    cd "$work/project" || exit 99
    job_status=0
    while read -r job_line <&3; do
        case $job_line in
        *measure) restore_store ;;
        *comment) [ "$job_event" = pull_request ] || continue ;;
        esac
        case $job_status$job_line in
        0* | *comment) ;;
        *) continue ;;
        esac
        sh -e -c "$job_line" || job_status=$?
        case $job_line in
        *measure) [ "$job_event" != push ] || save_store ;;
        esac
    done 3<"$work/lines"
    exit "$job_status"
)

# ---- the tests ----

# Where Python has a reader of YAML.
yaml() {
    for python in python3 /usr/bin/python3; do
        "$python" -c 'import yaml' 2>/dev/null || continue
        "$python" -c 'import sys, yaml
for name in sys.argv[1:]:
    yaml.safe_load(open(name))' "$@"
        return
    done
}

test_action_file() {
    expect 'action.yml and gitlab-ci.yml are YAML' 0 yaml "$action" "$source/docs/gitlab-ci.yml"
    sed -n "s/^ *run: '\(.*\)'\$/\1/p" "$action" >"$work/lines"
    expect 'action.yml runs the steps of scripts/ci' 0 same 'names
build
measure
compare
comment' "$(sed 's/.* //' "$work/lines")"
    # shellcheck disable=SC2016 # action.yml has it so
    expect 'nothing else, and no line of it has an expression' 0 same \
        "$(sed -n '/^runs:/,$p' "$action" | grep -cE '^ *-? *run:')" \
        "$(grep -c '^"\$GITHUB_ACTION_PATH/scripts/ci" [a-z]*$' "$work/lines")"
    expect 'every input is used' 0 same '' "$(
        sed -n '/^inputs:/,/^outputs:/s/^  \([a-z]*\):$/\1/p' "$action" | while read -r input; do
            grep -q "inputs\.${input}[^a-z]" "$action" || echo "$input"
        done
    )"
    expect 'every environment variable of it is one that scripts/ci knows' 0 same '' "$(
        sed -n 's/^ *\(GATE_[A-Z_]*\):.*/\1/p' "$action" | sort -u | while read -r name; do
            "$source/scripts/ci" --help | grep -q "^  $name " || echo "$name"
        done
    )"
}

test_first_run() {
    change 8 'the first commit'
    expect 'a first run passes' 0 job push
    expect 'and says that there is nothing to compare with' 0 \
        said "$work/log" 'first run: there is no earlier store'
    expect 'in the summary, too' 0 said "$work/job/summary.md" 'nothing to compare with yet'
    expect 'its verdict is an output' 0 same first "$(output_of verdict)"
    expect 'its store is kept' 0 same 1 "$(find "$work/cache" -name runs.db | wc -l)"
}

test_growth() {
    git -C "$work/project" checkout -q -b grows
    change 24 'rows are three times as wide'
    expect 'a change that grows fails' 1 job pull_request
    expect 'its verdict is an output' 0 same failed "$(output_of verdict)"
    expect 'an annotation points to the line that grew' 0 \
        said "$work/log" '^::error .*file=table\.c,.*line=7'
    expect 'the summary has the numbers' 0 said "$work/job/summary.md" 'table\.fill'
    expect 'JUnit has a failure' 0 \
        said "$work/job/temp/votrace-gate/memory/junit.xml" '<failure'
    expect 'the page with pictures is there' 0 said "$(output_of page)" '</html>'
    expect 'the pull request gets a comment' 0 said "$work/comment" '^<!-- votrace memory -->$'
    expect 'with the summary' 0 said "$work/comment" 'table\.fill'
    expect 'a pull request keeps no store' 0 same 1 "$(find "$work/cache" -name runs.db | wc -l)"
    rm -f "$work/gh-calls"
    expect 'more room is allowed by an option' 0 \
        job pull_request GATE_OPTIONS='--max-added 1600KB'
    expect 'the comment is renewed, not repeated' 0 \
        said "$work/gh-calls" '--method PATCH repos/somebody/table/issues/comments/4711'
    touch "$work/gh-refuses"
    expect 'a comment that is not permitted does not fail' 0 \
        job pull_request GATE_OPTIONS='--max-added 1600KB'
    expect 'but is said' 0 said "$work/log" "is 'pull-requests: write' permitted"
    rm -f "$work/gh-refuses"
}

test_no_growth() {
    git -C "$work/project" checkout -q main
    git -C "$work/project" checkout -q -b same
    change 8 'other words'
    expect 'a change that does not grow passes' 0 job pull_request
    expect 'its verdict is an output' 0 same passed "$(output_of verdict)"
    git -C "$work/project" checkout -q main
    git -C "$work/project" merge -q same
    expect 'so does the push that follows it' 0 job push
    expect 'which keeps its store' 0 same 2 "$(find "$work/cache" -name runs.db | wc -l)"
}

test_trouble() {
    expect 'commands that fail are no success' 2 job pull_request GATE_RUN=false
    expect 'commands that store nothing are none either' 2 job pull_request GATE_RUN=true
    expect 'the way to store is said' 0 said "$work/log" 'votreport run --db'
    expect 'an option that there is not is no regression' 2 \
        job pull_request GATE_OPTIONS=--no-such-option
    # Names that would do harm if a shell read them.
    # shellcheck disable=SC2016 # nothing is to expand it
    harm='x$(touch harm)`touch harm`;touch harm'
    expect 'names of branches and keys are not run' 0 \
        job push GITHUB_REF_NAME="$harm" GATE_KEY="$harm" GATE_BASE_SHA="$harm"
    expect 'not even a little' 0 test ! -e "$work/project/harm"
    expect 'keys have no comma and no space' 1 said "$work/job/output" '-key=.*[, ]'
    expect 'options are words, not commands or patterns' 2 \
        job pull_request GATE_OPTIONS='; touch harm; *'
    expect 'none of them ran' 0 test ! -e "$work/project/harm"
}

test_local() (
    cd "$work/project" && git checkout -q grows || exit 99
    GATE_RUN=$(commands) GATE_FOLDER=$work/local "$source/scripts/ci" local main
)

# curl, which keeps what is uploaded.
fake_curl() {
    mkdir -p "$work/registry"
    cat >"$work/bin/curl" <<EOT
#!/bin/sh
cat >"$work/curl-config"
printf '%s\n' "\$*" >>"$work/curl-calls"
while [ \$# -gt 1 ]; do
    case \$1 in
    --output) output=\$2; shift ;;
    --upload-file) upload=\$2; shift ;;
    esac
    shift
done
file=$work/registry/\$(printf '%s' "\$1" | tr / _)
if [ -n "\${upload-}" ]; then cp "\$upload" "\$file"; else cp "\$file" "\$output"; fi
EOT
    chmod +x "$work/bin/curl"
}

# gitlab NAME=VALUE...: the steps of docs/gitlab-ci.yml on a fresh machine.
gitlab() (
    rm -rf "$work/gitlab"
    mkdir -p "$work/gitlab"
    ln -s "$work/stage" "$work/gitlab/votrace"
    GITLAB_CI=true CI_PROJECT_DIR=$work/project CI_API_V4_URL=https://gitlab.example.org/api/v4
    CI_PROJECT_ID=12 CI_JOB_TOKEN=secret CI_COMMIT_REF_NAME=main
    GATE_FOLDER=$work/gitlab GATE_RUN=$(commands)
    export GITLAB_CI CI_PROJECT_DIR CI_API_V4_URL CI_PROJECT_ID CI_JOB_TOKEN CI_COMMIT_REF_NAME \
        GATE_FOLDER GATE_RUN
    for gitlab_setting; do
        export "${gitlab_setting?}"
    done
    cd "$work/project" || exit 99
    sed -n 's|^ *- /tmp/votrace/scripts/ci ||p' "$source/docs/gitlab-ci.yml" >"$work/lines"
    while read -r gitlab_step <&3; do
        "$source/scripts/ci" "$gitlab_step" || exit
    done 3<"$work/lines"
)

test_gitlab() {
    git -C "$work/project" checkout -q main
    expect 'GitLab: a first run passes' 0 gitlab
    expect 'GitLab: the job token is in no argument' 1 said "$work/curl-calls" secret
    expect 'GitLab: it is sent all the same' 0 said "$work/curl-config" 'JOB-TOKEN: secret'
    git -C "$work/project" checkout -q grows
    expect 'GitLab: a change that grows fails' 1 \
        gitlab CI_MERGE_REQUEST_IID=3 CI_MERGE_REQUEST_TARGET_BRANCH_NAME=main CI_COMMIT_REF_NAME=grows
    expect 'GitLab: its store is not kept' 0 same 1 "$(find "$work/registry" -type f | wc -l)"
    git -C "$work/project" checkout -q same
    expect 'GitLab: a change that does not grow passes' 0 \
        gitlab CI_MERGE_REQUEST_IID=4 CI_MERGE_REQUEST_TARGET_BRANCH_NAME=main CI_COMMIT_REF_NAME=same
}

# What docs/ci.md tells its reader to type: every block that is marked as sh, in one shell.
guide() (
    awk '/^```sh$/ { inside = 1; next } /^```/ { inside = 0 } inside' "$source/docs/ci.md" \
        >"$work/guide"
    mkdir "$work/reader" "$work/guided" && cd "$work/reader" || exit 99
    ln -s "$work/stage" "$work/guided/votrace"
    env "PATH=$work/stage/bin:$PATH" "CPATH=$work/stage/include" "VOTRACE=$source" \
        "GATE_FOLDER=$work/guided" sh -e "$work/guide"
)

test_guide() {
    expect 'docs/ci.md: all that it tells to type works' 0 guide
    expect 'docs/ci.md: the three gates that are to fail do' 0 same 'exit status 1
exit status 1
exit status 1' "$(grep '^exit status' "$work/log")"
    expect 'docs/ci.md: what grew is told' 0 said "$work/log" 'table_read \(.*table\.c:7\)'
    expect 'docs/ci.md: what is allowed is told with its reason' 0 \
        said "$work/log" 'allowed until 2099-12-31: twice the precision'
    expect 'docs/ci.md: its page is written' 0 test -s "$work/reader/table/memory.html"
    expect 'docs/ci.md explains every input' 0 same '' "$(
        sed -n '/^inputs:/,/^outputs:/s/^  \([a-z]*\):$/\1/p' "$action" | while read -r input; do
            grep -q "^| \`$input\` |" "$source/docs/ci.md" || echo "$input"
        done
    )"
}

mkdir -p "$work/destination"
DESTDIR=$work/destination meson install --no-rebuild --quiet -C "$build" >"$work/out" 2>&1 || {
    cat "$work/out" >&2
    exit 99
}
stage_report=$(find "$work/destination" -name votreport -path '*/bin/*')
mv "${stage_report%/bin/votreport}" "$work/stage"
git init -q "$work/project"
echo table >"$work/project/.gitignore"
mkdir -p "$work/bin"
fake_gh
fake_curl
PATH=$work/bin:$PATH
export PATH

test_action_file
test_first_run
test_growth
test_no_growth
test_trouble
mkdir -p "$work/local"
ln -s "$work/stage" "$work/local/votrace"
expect 'without a CI: a change that grows fails' 1 test_local
expect 'it says what it measured' 0 said "$work/log" 'measuring .* \(other words\)'
expect 'no worktree is left' 0 same 1 "$(git -C "$work/project" worktree list | wc -l)"
test_gitlab
test_guide
printf '1..%d\n' "$tests"
