/*
 * shutdown.pml - close against submit, start and sleep.
 *
 * One loop thread, two external producers, one priority producer, two threads
 * that both call shutdown, and an environment that may end the wait for other
 * reasons. The loop begins AWAKE, so shutdown meets it in every possible state.
 *
 * Memory is sequentially consistent here, with one shared access per step. The
 * protocol's only store->load races are those of sleep.pml. Everything else in
 * the close is a compareAndSet on one cell (state, tail) or happens under a
 * lock (PriorityLane.lock, WakeSignal.lock).
 *
 * Corresponding Java code:
 *     set_state, cas      internal.loop.StateCell            move, terminated
 *     Loop                internal.loop.Loop, Tick           enter, turn, leave
 *       announce, check   internal.loop.Poller               pollUntil
 *     External            internal.loop.ExternalLane         offer, poll, close
 *     Priority            internal.loop.PriorityLane         offer, poll, close
 *     wake                internal.loop.Ingress              wakeIfSleeping
 *     write_eventfd       internal.backend.WakeSignal        signal, close
 *     Shutdown, terminate internal.loop.Shutdown             begin, carryOut
 *
 * Properties (letters as in README.md). Each is a variable named after the
 * failure, so that the verifier's message names it:
 *     lost_wake_up   (a)     run_twice      (b)     overtaken      (c)
 *     two_signals    (d)     needless_write (e)     overwritten    (f)
 *     left_behind    (g) accepted, but not run when done
 *     ran_rejected   (g) run, though rejected or not yet accepted
 *     late_accept    (g) accepted after done
 *     write_closed   (h)
 *     ltl ends       (i), and "invalid end state" for a thread that hangs
 *
 * Mutants (-D...), which Spin must detect:
 *     STORE_RUNNING  NO_CLOSED_BIT  ACCEPT_OUTSIDE_LOCK  CLOSE_WITHOUT_LOCK
 *     NO_CLOSED_CHECK  NO_SHUTDOWN_WAKE  STORE_TERMINATING  SKIP_UNFILLED
 *     TERMINATED_OUTSIDE_LOCK  NO_FINAL_DRAIN  CHECK_AFTER_APPEND
 *     START_BY_STORE  NO_CLOSE_WHEN_AWAKE  IGNORE_CLOSED_BIT
 * Variants, which must hold:
 *     SHUTDOWN_ASKS_PENDING  LOOP_CLOSES_TOO  ONE_ROUND  LANE_FLAG
 *     BOUNDED_RUNS  IGNORE_CLOSED_BIT with LOOP_CLOSES_TOO
 *     SHUTDOWN_ONE_STEP with IO_FOREVER  ONE_ROUND with RESUBMIT
 * Limits of the protocol, which Spin must find (see README.md):
 *     IO_FOREVER  PRODUCER_DIES  CALLER_DIES  RESUBMIT
 */

/* internal.loop.StateCell: the numbers are those of the Java class. */
#define AWAKE       0
#define TERMINATED  1
#define SLEEPING    2
#define TERMINATING 3
#define RUNNING     4

#ifndef TASKS_A
#define TASKS_A 1
#endif
#ifndef TASKS_B
#define TASKS_B 1
#endif
#ifndef TASKS_P
#define TASKS_P 1
#endif
#ifndef CALLERS
#define CALLERS 2
#endif
#ifndef IO
#define IO 1                    /* returns of epoll_wait for other reasons  */
#endif

#define A 0                     /* external producer                        */
#define B 1                     /* external producer                        */
#define P 2                     /* priority producer                        */
#define PRODUCERS 3
#define SLOTS (TASKS_A + TASKS_B)

#define TASK(p, n)   (1 + (p) * 4 + (n))
#define OWNER(task)  (((task) - 1) / 4)
#define NUMBER(task) (((task) - 1) % 4)

byte state = AWAKE;             /* StateCell.state                          */

byte tail;                      /* ExternalLane.tail: the ticket number ... */
bool closed;                    /* ... and the closed bit of the same word  */
byte head;                      /* ExternalLane.head: the draining thread   */
byte slot[SLOTS + 1];           /* ExternalLane slots; the last stays empty */

bool lane_lock;                 /* PriorityLane.lock                        */
bool lane_closed;               /* PriorityLane.closed, used with LANE_FLAG */
byte list[TASKS_P + 1];         /* PriorityLane list, guarded by the lock   */
byte size;                      /* PriorityLane.size, also read without it  */

bool pending;                   /* WakeSignal.pending                       */
bool wake_lock;                 /* WakeSignal.lock                          */
bool wake_closed;               /* WakeSignal.closed                        */

bool edge;                      /* kernel: eventfd is on epoll's ready list */
bool io;                        /* kernel: another reason to return         */
bool fd_closed;                 /* kernel: the eventfd's number is free     */

bool done;                      /* the future that shutdown returns         */

/* Ghost variables: only for the properties, with no counterpart in Java. */
byte accepted[PRODUCERS];       /* number of accepted tasks; a prefix       */
byte expected[PRODUCERS];       /* next number to run, per producer         */
byte waking;                    /* threads that owe the loop a wake-up      */
byte signalling;                /* won pending.getAndSet, not yet written   */
byte taken;                     /* edge reported, pending not yet cleared   */
bool blocked;                   /* the loop is committed to epoll_wait      */

bool lost_wake_up, run_twice, overtaken, two_signals, needless_write;
bool overwritten, left_behind, ran_rejected, late_accept, write_closed;

#define never_if(condition, name) \
    if :: (condition) -> name = true :: else fi; assert(!name)

/* ----------------------------------------------------------- StateCell -- */

/* Performs every write of the state, by store or by compareAndSet. */
inline set_state(to)
{
    never_if(state == TERMINATED || (state == TERMINATING && to != TERMINATED),
             overwritten);
    state = to
}

/* StateCell.move, a strong compareAndSet: it never fails spuriously. */
#define cas(from, to, otherwise)                \
    atomic {                                    \
        if                                      \
        :: state == from -> set_state(to)       \
        :: else          -> goto otherwise      \
        fi                                      \
    }

/* ---------------------------------------------------------- WakeSignal -- */

/* WakeSignal.signal: under the wake lock, and not after the close. A write that
 * is retried after EINTR is a later write, so it has no separate step.
 * `seen` is the state that the thread saw; `tokens` is 1 if it set pending. */
inline write_eventfd(seen, tokens)
{
    atomic { !wake_lock -> wake_lock = true }
    if
#ifndef NO_CLOSED_CHECK
    :: wake_closed -> d_step { signalling = signalling - tokens; waking-- }
    :: else ->
#else
    :: true ->
#endif
        d_step {
            never_if(fd_closed, write_closed);
            never_if(seen != SLEEPING, needless_write);
            edge = true; signalling = signalling - tokens; waking--
        }
    fi;
    wake_lock = false
}

/* Ingress.wakeIfSleeping, after the fence: the state, then the flag, then the write. */
inline wake()
{
    atomic {
        saw = state;
        if
        :: saw == SLEEPING -> skip
        :: else            -> saw = AWAKE; waking--; goto next
        fi
    }
    atomic {
        if
        :: !pending -> pending = true; signalling++
        :: else     -> saw = AWAKE; waking--; goto next
        fi
    }
    write_eventfd(saw, 1);
    saw = AWAKE
}

/* ----------------------------------------------------------- producers -- */

inline accept(who)
{
    never_if(done, late_accept);
    accepted[who] = accepted[who] + 1
}

proctype External(byte who; byte tasks)
{
    byte n, ticket, saw;

next:
    if
    :: n < tasks ->
#ifdef ASK_STATE_FIRST
        /* Ingress.submit. Only an early check: it may be stale at once. */
        if
        :: state == TERMINATING || state == TERMINATED -> goto refused
        :: else
        fi;
#endif
        /* ExternalLane.offer, the ticket: number and closed bit are one word,
         * so a ticket is either before the close or refused. */
#ifdef NO_CLOSED_BIT
        if
        :: closed -> goto refused
        :: else
        fi;
        d_step { ticket = tail; tail++; accept(who) }
#else
        atomic {
            if
            :: closed -> goto refused
            :: else   -> ticket = tail; tail++; accept(who)
            fi
        }
#endif
#ifdef PRODUCER_DIES
        if :: skip :: goto refused fi;
#endif
        /* ExternalLane.offer, the fill: with its fence (see sleep.pml). */
        d_step { slot[ticket] = TASK(who, n); waking++; ticket = 0; n++ }
        wake();
        goto next
    :: else
    fi;
refused:
    skip
}

/* The priority lane rejects by the state itself, stored under the lane's lock,
 * or by a flag of the lane, set under its lock after the state. */
#ifdef LANE_FLAG
#define LANE_IS_CLOSED lane_closed
#else
#define LANE_IS_CLOSED (state == TERMINATED)
#endif

proctype Priority(byte who; byte tasks)
{
    byte n, saw;
    bool refuse;

next:
    if
    :: n < tasks ->
        /* PriorityLane.offer: check and append under one lock. */
#ifdef CHECK_AFTER_APPEND
        d_step {
            !lane_lock -> list[size] = TASK(who, n); size++; waking++
        }
        atomic {
            if
            :: LANE_IS_CLOSED -> waking--; goto refused
            :: else           -> accept(who); n++
            fi
        }
#else
#ifdef ACCEPT_OUTSIDE_LOCK
        refuse = LANE_IS_CLOSED;
        atomic { !lane_lock -> lane_lock = true }
#else
        atomic { !lane_lock -> lane_lock = true }
        refuse = LANE_IS_CLOSED;
#endif
        if
        :: refuse -> lane_lock = false; goto refused
        :: else ->
            d_step {
                list[size] = TASK(who, n); size++; accept(who);
                waking++; n++; lane_lock = false
            }
        fi;
#endif
        wake();
        goto next
    :: else
    fi;
refused:
    skip
}

/* ------------------------------------------------------------ the lanes -- */

inline execute(task)
{
    never_if(NUMBER(task) >= accepted[OWNER(task)], ran_rejected);
    never_if(NUMBER(task) < expected[OWNER(task)], run_twice);
    never_if(NUMBER(task) > expected[OWNER(task)], overtaken);
    expected[OWNER(task)] = NUMBER(task) + 1
}

/* PriorityLane.poll: a read of size, then the whole list under the lock. */
inline drain_priority(some)
{
    if
    :: size == 0
    :: else ->
        d_step {
            !lane_lock ->
            i = 0;
            do
            :: i < size -> execute(list[i]); list[i] = 0; i++
            :: else     -> break
            od;
            size = 0; i = 0; some = true;
#ifdef RESUBMIT
            /* The task submits itself again, until it is rejected. */
            if
            :: state == TERMINATING ->
                expected[P] = 0; size = 1; list[0] = TASK(P, 0)
            :: else
            fi
#endif
        }
    fi
}

inline take_slot()
{
    execute(slot[head]);
    slot[head] = 0;
    head++
}

/* --------------------------------------------------------- termination -- */

/* ExternalLane.close: the closed bit, by compareAndSet; idempotent. */
inline close_lane() { closed = true }

/* From TERMINATING to the end, by the loop thread - or by the caller of
 * shutdown, if the loop was never started.
 *
 * Here and below, a locked section that is invisible to other threads is one
 * step: it waits for the lock and does its work. */
inline terminate()
{
#ifdef LOOP_CLOSES_TOO
    close_lane();
#endif
    do
    ::  /* External lane until head == closed tail: claimed tickets will be
         * filled, so the thread waits for them. */
        do
        :: d_step { slot[head] != 0 -> take_slot() }
#ifdef SKIP_UNFILLED
        :: slot[head] == 0 && closed -> break
#elif defined(IGNORE_CLOSED_BIT)
        :: head == tail -> break
#else
        :: closed && head == tail -> break
#endif
        od;
        some = false;
        drain_priority(some);
#ifdef ONE_ROUND
        break
#else
        if :: some :: !some -> break fi
#endif
    od;

    /* TERMINATED, and no more priority tasks: PriorityLane.close. */
#ifdef TERMINATED_OUTSIDE_LOCK
    atomic { set_state(TERMINATED) }
#elif defined(LANE_FLAG)
    atomic { set_state(TERMINATED) }
    d_step { !lane_lock -> lane_closed = true }
#else
    atomic { !lane_lock -> set_state(TERMINATED) }
#endif

    /* Final drain of both. */
#ifndef NO_FINAL_DRAIN
    do
    :: d_step { slot[head] != 0 -> take_slot() }
    :: slot[head] == 0 -> break
    od;
    drain_priority(some);
#endif
    some = false;

    /* epoll is closed first, because nothing refers to it any more. Then the
     * eventfd, under the wake lock: WakeSignal.close. */
#ifdef CLOSE_WITHOUT_LOCK
    wake_closed = true;
    d_step { fd_closed = true; edge = false }
#else
    d_step { !wake_lock -> wake_closed = true; fd_closed = true; edge = false }
#endif

    d_step {
        never_if(expected[A] != accepted[A] || expected[B] != accepted[B] ||
                 expected[P] != accepted[P], left_behind);
        done = true
    }
}

/* Shutdown.begin, by any thread, any number of times. StateCell decides which
 * is first, by a compareAndSet that is tried from one state after the other. */
proctype Shutdown()
{
    byte was, i;
    bool some;

again:
#ifndef SHUTDOWN_ONE_STEP
    atomic {
        was = state;
        if
        :: was == TERMINATING || was == TERMINATED -> goto over
        :: else
        fi
    }
#endif
    atomic {
#ifdef SHUTDOWN_ONE_STEP
        was = state;
        if
        :: was == TERMINATING || was == TERMINATED -> goto over
        :: else
        fi;
#elif !defined(STORE_TERMINATING)
        if
        :: state != was -> was = 0; goto again
        :: else
        fi;
#endif
        set_state(TERMINATING);
#ifndef NO_SHUTDOWN_WAKE
        if :: was == SLEEPING -> waking++ :: else fi
#endif
    }
#ifdef CALLER_DIES
    if :: skip :: goto over fi;
#endif
    if
    :: was == AWAKE ->
        /* No thread will run the loop: the caller cleans up. */
#ifndef NO_CLOSE_WHEN_AWAKE
        close_lane();
#endif
        terminate()
    :: else ->
        close_lane();
        if
#ifndef NO_SHUTDOWN_WAKE
        :: was == SLEEPING ->
#ifdef SHUTDOWN_ASKS_PENDING
            atomic {
                if
                :: !pending -> pending = true
                :: else     -> waking--; goto over
                fi
            }
#endif
            write_eventfd(was, 0)
        :: else
#else
        :: true
#endif
        fi
    fi;
over:
    was = 0
}

/* ---------------------------------------------------------------- loop -- */

active proctype Loop()
{
    byte i;
    bool some, reported;
#ifdef BOUNDED_RUNS
    bool returned;
#endif

    /* Loop.enter. */
#ifdef START_BY_STORE
    d_step { set_state(RUNNING) }
#else
    cas(AWAKE, RUNNING, never_started);
#endif

tick:
#ifdef BOUNDED_RUNS
    /* Loop.leave and Loop.enter: a bounded run returns, another run begins. */
    if
    :: !returned ->
        returned = true;
        cas(RUNNING, AWAKE, leave);
        cas(AWAKE, RUNNING, never_started)
    :: skip
    fi;
#endif
    drain_priority(some);
    some = false;
    do
    :: d_step { slot[head] != 0 -> take_slot() }
    :: slot[head] == 0 -> break
    od;

    /* Poller.pollUntil: announce, (fence,) check again. */
    cas(RUNNING, SLEEPING, leave);
    if :: slot[head] != 0 -> goto back :: else fi;
    if :: size != 0       -> goto back :: else -> blocked = true fi;
    atomic {
        if
        :: edge -> edge = false; reported = true; taken = 1
#ifdef LIVENESS
        :: io   -> io = false
#else
        :: true -> skip
#endif
        fi;
        blocked = false
    }

    /* Back to RUNNING if still SLEEPING: TERMINATING is never overwritten. */
back:
#ifdef STORE_RUNNING
    atomic { set_state(RUNNING) }
#else
    cas(SLEEPING, RUNNING, leave);
#endif
    if
    :: reported -> d_step { pending = false; taken = 0; reported = false }
    :: else
    fi;
    goto tick;

leave:
    reported = false;
    terminate();
never_started:
    skip
}

/* --------------------------------------------------------- environment -- */

/* I/O, timers, EINTR. In the safety run such a return is always possible; for
 * liveness it is a process (see sleep.pml), with a bound (see README.md). */
#ifdef LIVENESS
active proctype OtherReasons()
{
#ifdef IO_FOREVER
    do
    :: !io -> io = true
    :: break
    od
#else
    byte n;
    do
    :: n < IO && !io -> io = true; n++
    :: break
    od
#endif
}
#endif

#ifndef LIVENESS
active proctype Monitor()
{
end:
    do
    /* (a) asleep forever beside visible work, with no wake-up due; or asleep
     * forever in state TERMINATING. */
    :: atomic {
           blocked && !edge && waking == 0 &&
           (slot[head] != 0 || size != 0 || state == TERMINATING) ->
           lost_wake_up = true; assert(!lost_wake_up)
       }
    /* (d) as in sleep.pml, as long as the loop can sleep at all. After that,
     * shutdown adds at most one write. */
    :: atomic {
           (state == RUNNING || state == SLEEPING) &&
           pending != signalling + edge + taken ->
           two_signals = true; assert(!two_signals)
       }
    od
}
#endif

init
{
    byte n;

    atomic {
#if TASKS_A > 0
        run External(A, TASKS_A);
#endif
#if TASKS_B > 0
        run External(B, TASKS_B);
#endif
#if TASKS_P > 0
        run Priority(P, TASKS_P);
#endif
        do
        :: n < CALLERS -> run Shutdown(); n++
        :: else        -> break
        od
    }
}

/* (i) Once called, shutdown completes. */
ltl ends { <> done }
