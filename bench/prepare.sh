# For `run` and `wake`, to be sourced: finds a JDK, builds what is run, says what machine this is.

root=$(cd -P "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
lib=$root/bench/target/app/lib
jdk=$("$root/build/jdk" "$(sed -n 's/.*<gyre.jdk>\(.*\)<.*/\1/p' "$root/pom.xml")") || exit 1

# The flags of every JVM here. The benchmarks' own forks have the same, from Suite.java. Netty does without Unsafe,
# and JCTools warns, if it is not expressly allowed.
java=("$jdk/bin/java" --enable-native-access=ALL-UNNAMED --sun-misc-unsafe-memory-access=allow -Xms512m -Xmx512m)

build() {
    echo "building" >&2
    (cd "$root" && JAVA_GYRE_HOME=$jdk mvn -q -B -pl bench -am package -Dmaven.test.skip -Dgyre.format.skip) >&2
}

# Prints why a program failed, from its LOG: the first line that names an error, or the last.
reason_in() {
    local reason
    reason=$(grep -m 1 -E 'Error|Exception|error:' "$1" || tail -n 1 "$1")
    echo "${reason:-no output}" | cut -c -120
}

# Runs a program whose failure is a row of a table, not the end of the run: FILE, where it leaves its figures, COMMAND... Its errors
# go to FILE.log, and the reason for a failure to FILE.failed. A program that has failed does not run again.
attempt() {
    local file=$1
    shift
    if [[ -e $file.failed ]]; then return; fi
    if ! "$@" 2>"$file.log"; then
        reason_in "$file.log" >"$file.failed"
        echo "${file##*/} failed: $(<"$file.failed")" >&2
    fi
}

# Of all processors together, in percent, what others use in the next second. The load average would tell of the last minute.
busy() {
    local before after
    before=$(sed 1q /proc/stat)
    sleep 1
    after=$(sed 1q /proc/stat)
    # user nice system idle iowait: all that is not one of the last two is work.
    awk '{ for (i = 2; i <= 9; i++) sum[NR] += $i; idle[NR] = $5 + $6 }
        END { print int(100 - 100 * (idle[2] - idle[1]) / (sum[2] - sum[1])) }' <<<"$before"$'\n'"$after"
}

# What figures are worth depends on it, so it stands above them.
machine() {
    local others
    others=$(busy)
    echo "$(date +%F), $(nproc) cores, $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)," \
        "Linux $(uname -r), $(sed -n 's/^IMPLEMENTOR="\(.*\)"/\1/p' "$jdk/release")" \
        "$(sed -n 's/^JAVA_RUNTIME_VERSION="\(.*\)"/\1/p' "$jdk/release"), others use $others % of them"
    if ((others > 5)); then
        echo "The machine is busy: expect ratios to hold, at best, and times not to."
    fi
}
