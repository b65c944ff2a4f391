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

# What figures are worth depends on it, so it stands above them.
machine() {
    local load
    read -r load _ </proc/loadavg
    echo "$(date +%F), $(nproc) cores, $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)," \
        "Linux $(uname -r), $(sed -n 's/^IMPLEMENTOR="\(.*\)"/\1/p' "$jdk/release")" \
        "$(sed -n 's/^JAVA_RUNTIME_VERSION="\(.*\)"/\1/p' "$jdk/release"), load $load"
    if awk "BEGIN { exit !($load > 0.7) }"; then
        echo "The machine is busy: expect ratios to hold, at best, and times not to. Wait until the load is below 0.7."
    fi
}
