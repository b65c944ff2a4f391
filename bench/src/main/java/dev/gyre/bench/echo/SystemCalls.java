package dev.gyre.bench.echo;

import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;

/// The counts of `strace -c` for a number of echoed messages.
public record SystemCalls(Map<String, Long> calls, long messages) {
    /// Rarer calls belong to connections and the JVM.
    private static final double SHOWN = 0.01;

    /// A line of the summary is `% time, seconds, usecs/call, calls, errors if any, name`.
    static SystemCalls parse(List<String> summary, long messages) {
        var calls = new LinkedHashMap<String, Long>();
        for (String line : summary) {
            String[] fields = line.strip().split("\\s+", -1);
            boolean counted = fields.length >= 5 && fields[3].matches("\\d+");
            if (counted && !fields[fields.length - 1].equals("total")) {
                calls.merge(fields[fields.length - 1], Long.parseLong(fields[3]), Long::sum);
            }
        }
        if (calls.isEmpty()) {
            throw new IllegalArgumentException("no summary of strace -c: " + summary);
        }
        return new SystemCalls(calls, messages);
    }

    double perMessage() {
        return (double) calls.values().stream().mapToLong(Long::longValue).sum() / messages;
    }

    /// Lists the frequent calls in descending order: `recvfrom 1.00, sendto 1.00, epoll_wait 0.04`.
    @Override
    public String toString() {
        return calls.entrySet().stream()
                .filter(call -> (double) call.getValue() / messages >= SHOWN)
                .sorted(
                        Map.Entry.<String, Long>comparingByValue(Comparator.reverseOrder())
                                .thenComparing(Map.Entry.comparingByKey()))
                .map(
                        call ->
                                String.format(
                                        Locale.ROOT,
                                        "%s %.2f",
                                        call.getKey(),
                                        (double) call.getValue() / messages))
                .collect(Collectors.joining(", "));
    }
}
