# For `echo` and `streams`, to be sourced after prepare.sh: a core for the server and one for the load, the programs in C, servers
# that come and go. Who sources it has said what it is called, in `self`.

fail() {
    echo "bench/$self: $*" >&2
    exit 1
}

misuse() {
    echo "bench/$self: $*. Try bench/$self --help" >&2
    exit 2
}

# The value of an option that wants a number: at least 1, nine digits at most.
number() {
    if [[ ! ${2-} =~ ^[1-9][0-9]{0,8}$ ]]; then misuse "$1 needs a number, not '${2-}'"; fi
    value=$2
}

cores=
building=true
class_path=$lib/*
flags=(
    # As in ./gyre: calls into the kernel are compiled apart from what calls them, or some allocate (docs/adr/0002).
    -XX:CompileCommand=quiet
    "-XX:CompileCommand=dontinline,dev.gyre.internal.sys.Linux*::*"
    # What a JVM takes anyhow when it finds itself on one core. Said all the same: it would be another one under --jvm
    # -XX:ActiveProcessorCount.
    -XX:+UseSerialGC
)

common_options() {
    cat <<'HELP'
  --cores A,B       the server's core and that of the load; default the first two that this process may use
  --jvm FLAG        another flag for the JVMs; may be repeated
  --class-path P    the classes to run, instead of those built here
  --no-build        run what was built last
  --help            this
HELP
}

# Takes one of these from the front of its arguments, and says in `taken` how many words it was: none if it is another.
take_common_option() {
    taken=2
    case $1 in
        --cores)
            cores=${2-}
            if [[ ! $cores =~ ^[0-9]+,[0-9]+$ ]]; then misuse "--cores needs two numbers, as in 0,1, not '$cores'"; fi
            ;;
        --jvm)
            flags+=("${2:?--jvm needs a flag}")
            ;;
        --class-path)
            class_path=${2:?--class-path needs a path}
            building=false
            ;;
        --no-build)
            building=false
            taken=1
            ;;
        -h | --help)
            help
            exit
            ;;
        *) taken=0 ;;
    esac
}

need() {
    if ! command -v "$1" >/dev/null; then fail "$1 is needed $2. Install it: apt-get install $3"; fi
}

# Two cores, those asked for or the first that this process may use.
choose_cores() {
    local allowed core
    if [[ -z $cores ]]; then
        allowed=$(sed -n 's/^Cpus_allowed_list:[^0-9]*//p' /proc/self/status | tr ',' '\n' |
            awk -F- '{ for (i = $1; i <= ($2 == "" ? $1 : $2); i++) print i }' | head -n 2 | paste -sd, -)
        if [[ $allowed != *,* ]]; then
            fail "two cores are needed, one for the server and one for the load, and this process may use only core $allowed." \
                "With --cores $allowed,$allowed both share it: that shows whether the servers work, not what they cost"
        fi
        cores=$allowed
    fi
    server_core=${cores%,*}
    load_core=${cores#*,}
    for core in "$server_core" "$load_core"; do
        if ! taskset -c "$core" true 2>/dev/null; then fail "this process may not use core $core"; fi
    done
}

# Sees to it that there is all that is run: PROGRAM..., in C. Sets `out`, where results go, and `described`, the machine.
make_ready() {
    local program
    need cc "to compile the C programs" "gcc libc6-dev"
    need taskset "to give the server a core and the load another" util-linux
    choose_cores
    if $building; then build; fi
    described=$(machine)
    if $building; then echo "$described"; fi
    rm -rf "$out"
    mkdir -p "$out"
    for program in "$@"; do
        cc -O2 -Wall -o "$out/$program" "$root/bench/src/main/c/$program.c" || fail "$program.c could not be compiled"
    done
    mkfifo "$out/announced"
}

# What was started and has to be ended, the last first.
running=()
stop() {
    local process
    for process in ${running[@]+"${running[@]}"}; do
        # The shell would tell of a job that was killed.
        { kill "$process" && wait "$process"; } 2>/dev/null || true
    done
    running=()
}
trap stop EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# Notes that a server has failed: NAME, what happened. Its row has the reason, and it does not run again.
failed() {
    local name=$1
    shift
    tail -n 20 "$out/$name.log" >&2
    echo "$*: $(reason_in "$out/$name.log")" >"$out/$name.failed"
    echo "bench/$self: $name failed: $(<"$out/$name.failed"); its log is $out/$name.log" >&2
}

# Prints why a server is not measured; fails if it is.
absence() {
    local name=$1
    if [[ -e $out/$name.failed ]]; then
        echo "failed: $(<"$out/$name.failed")"
    else
        [[ -e $out/$name.declined ]] && echo "not here: $(<"$out/$name.declined")"
    fi
}

# Starts a server: NAME, CORE, what it is: `c PROGRAM ARGUMENT...`, `java CLASS ARGUMENT...`, the class one of dev.gyre.bench.
# Whatever is started says `listening PORT` or `declines REASON` on its first line, and serves until it is killed. Sets `server`,
# its process, and `port`; fails if it declines, and says why in NAME.declined, or if it fails, and says why in NAME.failed.
start() {
    local name=$1 core=$2 kind=$3 command line= from
    shift 3
    case $kind in
        c) command=("$out/$1" "${@:2}") ;;
        java) command=("${java[@]}" "${flags[@]}" -cp "$class_path" "dev.gyre.bench.$1" "${@:2}") ;;
    esac
    taskset -c "$core" "${command[@]}" >"$out/announced" 2>"$out/$name.log" &
    server=$!
    running=("$server" ${running[@]+"${running[@]}"})
    exec {from}<"$out/announced"
    IFS= read -r -t 60 -u "$from" line || true
    exec {from}<&-
    case $line in
        'listening '*) port=${line#listening } ;;
        'declines '*)
            echo "${line#declines }" >"$out/$name.declined"
            stop
            return 1
            ;;
        *)
            failed "$name" "it did not say where it listens, but '$line'"
            return 1
            ;;
    esac
}

# Puts load on the server NAME, for at most SECONDS: a command, on the core for the load. Sets `measured` to what it prints. Fails
# if the server does not hold out, and says why in NAME.failed.
load() {
    local name=$1 limit=$2
    shift 2
    if ! measured=$(timeout "$limit" taskset -c "$load_core" "$@"); then
        failed "$name" "under load, or in more than $limit seconds"
        return 1
    fi
}
