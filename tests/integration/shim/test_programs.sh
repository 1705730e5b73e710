#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# test_programs.sh LIBVOTRACE VTRCHECK SOURCE-FOLDER
#
# Real programs, with the library and without at the same time: the same output, files and exit
# status, and every trace holds, those of the children among them. All stacks are taken.
# shellcheck disable=SC2154 # tap.sh assigns $work
set -u

# shellcheck source=/dev/null
. "$(dirname "$0")/tap.sh"
lib=$(absolute "$1")
vtrcheck=$(absolute "$2")
source=$(absolute "$3")

export MALLOC_PERTURB_=0 LC_ALL=C
complete='updating=0 events_lost=0 unknown_frees=0 table_refused=0 file_refused=0'

# run plain|shim COMMAND...: in a folder of its own; what it prints goes to output. A shell lets
# what it starts with & ignore SIGINT.
run() (
    cd "$work/$1" || exit 1
    shift
    env --default-signal=INT,QUIT "$@" >output 2>&1 </dev/null
    echo "exit status $?" >>output
)

# both COMMAND...: at the same time.
both() {
    rm -rf "$work/plain" "$work/shim" "$work/traces"
    mkdir "$work/plain" "$work/shim" "$work/traces"
    run plain "$@" &
    run shim env LD_PRELOAD="$lib" VOTRACE_STACKS=all \
        VOTRACE_OUTPUT="$work/traces/%e.%p.vtr" VOTRACE_CHILDREN=exec "$@"
    wait
}

# What is printed and differs from run to run, as times and numbers of processes: to be replaced.
essence() {
    cat
}

same_output() {
    essence <"$work/plain/output" >"$work/plain.essence"
    essence <"$work/shim/output" >"$work/shim.essence"
    diff "$work/plain.essence" "$work/shim.essence"
}

# same_files NAME...
same_files() {
    for same_name; do
        cmp "$work/plain/$same_name" "$work/shim/$same_name" || return
    done
}

# traces_hold PROGRAM...: each of these has left one, and all that there are hold.
traces_hold() {
    holds=0
    for trace in "$work/traces"/*.vtr*; do
        [ -s "$trace" ] || continue # none, or killed as soon as it was made
        "$vtrcheck" "$trace" || holds=1
    done
    for traced; do
        # Names may be patterns.
        # shellcheck disable=SC2086
        set -- "$work/traces/"$traced.*.vtr
        [ -e "$1" ] && continue
        echo "$traced has left no trace"
        holds=1
    done
    return $holds
}

# whole PROGRAM...: nothing was missed in any of its traces.
whole() {
    for traced; do
        # shellcheck disable=SC2231
        for trace in "$work/traces/"$traced.*.vtr; do
            # shellcheck disable=SC2086
            "$vtrcheck" "$trace" state=2 $complete 'process.heap.allocations>=10' || return
        done
    done
}

exited_with() {
    grep -qx "exit status $1" "$work/plain/output" && return
    tail -n 5 "$work/plain/output"
    return 1
}

# ---- sqlite3: a table of 1,000,000 rows, an index, and all of it checked ----
if command -v sqlite3 >/dev/null; then
    cat >"$work/rows.sql" <<'EOT'
PRAGMA synchronous = OFF;
CREATE TABLE t(id INTEGER PRIMARY KEY, name TEXT, value REAL);
WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 1000000)
    INSERT INTO t SELECT x, 'row ' || (x * 7919 % 1000003), x * 0.5 FROM n;
CREATE INDEX by_name ON t(name);
SELECT count(*), sum(value), min(name), max(name) FROM t;
SELECT count(*) FROM (SELECT name FROM t ORDER BY name DESC);
PRAGMA integrity_check;
EOT
    both sqlite3 rows.db ".read $work/rows.sql"
    {
        exited_with 0 && same_output && same_files rows.db && traces_hold sqlite3 &&
            whole sqlite3
    } >"$work/log" 2>&1
    result 'sqlite3 builds a table of 1,000,000 rows and checks it' $? "$work/log"
else
    skip 'sqlite3' 'no sqlite3: run scripts/setup test'
fi

# ---- git: every object of this repository, or of one made here ----
repository() {
    git -c safe.directory='*' clone -q --bare "$source" "$work/repository.git" 2>/dev/null &&
        return
    rm -rf "$work/repository.git"
    git init -q "$work/new" && cp -r "$source/preload" "$work/new" && git -C "$work/new" add . &&
        git -C "$work/new" -c user.name=test -c user.email=test commit -q -m 'all' &&
        git clone -q --bare "$work/new" "$work/repository.git"
}
if command -v git >/dev/null && repository >"$work/log" 2>&1; then
    both git -c safe.directory='*' -C "$work/repository.git" fsck --full --strict --no-progress
    { exited_with 0 && same_output && traces_hold git && whole git; } >"$work/log" 2>&1
    result 'git fsck' $? "$work/log"
else
    skip 'git' 'no git: run scripts/setup test'
fi

# ---- gcc: a driver, and the children that do the work ----
# The largest file that needs nothing generated.
largest=$(find "$source/common" "$source/preload" "$source/report" -name '*.c' \
    ! -exec grep -q '"config.h"\|schema' {} \; -exec ls -S {} + | head -n 1)
if command -v gcc >/dev/null && pkg-config --exists libdw sqlite3; then
    # A folder has folders, and files name each other without them.
    # shellcheck disable=SC2046
    both gcc -std=gnu17 -D_GNU_SOURCE -O2 -c "-I$source/include" \
        $(find "$source/common" "$source/preload" "$source/report" -type d -printf '-I%p ') \
        $(pkg-config --cflags libdw sqlite3) "$largest" -o object.o
    {
        exited_with 0 && same_output && same_files object.o && traces_hold '*gcc*' cc1 '*as' &&
            whole cc1 '*as'
    } >"$work/log" 2>&1
    result "gcc -c $(basename "$largest"), children followed" $? "$work/log"
else
    skip 'gcc -c' 'no gcc'
fi

# ---- a compressor with two threads ----
seq 1 400000 >"$work/numbers"
for compressor in 'xz -T2 --block-size=512KiB -1' 'zstd -T2 -q -6'; do
    name=${compressor%% *}
    if command -v "$name" >/dev/null; then
        # shellcheck disable=SC2086
        both sh -c "$compressor -c <'$work/numbers' >packed && $name -dc packed | cksum"
        {
            exited_with 0 && same_output && same_files packed && traces_hold "$name" &&
                whole "$name"
        } >"$work/log" 2>&1
        result "$compressor" $? "$work/log"
    else
        skip "$compressor" "no $name: run scripts/setup test"
    fi
done

# ---- code made at run time, for which there are no unwind tables ----
cat >"$work/script.js" <<'EOT'
const { Worker, isMainThread, parentPort } = require('worker_threads');
function hash(text) {
    let sum = 0;
    for (let i = 0; i < text.length; i++)
        sum = (sum * 31 + text.charCodeAt(i)) >>> 0;
    return sum;
}
function work(seed) {
    const rows = [];
    for (let i = 0; i < 60000; i++)
        rows.push({ id: i, name: 'row ' + (i * seed) % 10007, bytes: Buffer.alloc(i % 50, 1) });
    rows.sort((a, b) => a.name < b.name ? -1 : a.name > b.name ? 1 : a.id - b.id);
    return hash(JSON.stringify(rows.map(row => [row.id, row.name, row.bytes.length])));
}
if (isMainThread) {
    let sums = [work(1)];
    for (let i = 0; i < 2; i++)
        new Worker(__filename).on('message', sum => {
            sums.push(sum);
            if (sums.length === 3)
                console.log(sums.sort());
        });
} else {
    parentPort.postMessage(work(7));
}
EOT
if command -v node >/dev/null; then
    both node "$work/script.js"
    { exited_with 0 && same_output && traces_hold 'node*'; } >"$work/log" 2>&1
    result 'node, with two workers' $? "$work/log"
else
    skip 'node' 'no node'
fi

cat >"$work/Small.java" <<'EOT'
import java.util.*;
import java.util.zip.*;

public class Small {
    static long work(int seed) throws Exception {
        Map<String, Integer> counts = new TreeMap<>();
        Deflater deflater = new Deflater(); // of zlib, which takes its memory from malloc
        CRC32 sum = new CRC32();
        byte[] packed = new byte[1 << 16];
        for (int i = 0; i < 200000; i++)
            counts.merge("key " + (i * seed) % 5003, 1, Integer::sum);
        deflater.setInput(counts.toString().getBytes("UTF-8"));
        deflater.finish();
        while (!deflater.finished())
            sum.update(packed, 0, deflater.deflate(packed));
        deflater.end();
        return sum.getValue();
    }

    public static void main(String[] arguments) throws Exception {
        long[] sums = new long[4];
        Thread[] threads = new Thread[4];
        for (int i = 0; i < 4; i++) {
            int at = i;
            threads[i] = new Thread(() -> {
                try {
                    sums[at] = work(at + 3);
                } catch (Exception exception) {
                    System.out.println(exception);
                }
            });
            threads[i].start();
        }
        for (Thread thread : threads)
            thread.join();
        System.out.println(Arrays.toString(sums));
    }
}
EOT
if command -v java >/dev/null && command -v javac >/dev/null &&
    javac -d "$work" "$work/Small.java" >"$work/log" 2>&1; then
    both java -Xmx256m -cp "$work" Small
    { exited_with 0 && same_output && traces_hold java; } >"$work/log" 2>&1
    result 'java, with four threads' $? "$work/log"
else
    skip 'java' 'no java and javac'
fi

# ---- python3 tests itself: processes, threads, forks, mappings ----
# How many tests there were in each file. What fails is run again (-w): some of it is about time,
# and the machine may be busy.
python_results() {
    sed -n 's/^\(Ran [0-9]* tests*\) in.*/\1/p; /^exit status/p; /^Tests result/s/.*then //p' |
        sort -u
}
for python in /usr/bin/python3 python3 none; do
    [ "$python" = none ] ||
        "$python" -c 'import test.test_fork1, test.test_subprocess' 2>/dev/null && break
done
if [ "$python" != none ]; then
    essence() {
        python_results
    }
    both "$python" -m test -v -w -j2 -i '*NoPoll*' test_subprocess test_threading test_fork1 \
        test_mmap test_os
    { exited_with 0 && same_output && traces_hold 'python3*'; } >"$work/log" 2>&1
    result "$python -m test: processes, threads, forks, mappings" $? "$work/log"
    essence() {
        cat
    }
else
    skip 'python3 -m test' 'no python3 with its test suite: run scripts/setup test'
fi
finish
