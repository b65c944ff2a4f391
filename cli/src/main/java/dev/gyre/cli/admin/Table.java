package dev.gyre.cli.admin;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.function.Function;

/// Formats rows in columns of fixed width. If the screen is too narrow, columns are dropped.
/// The last column takes the rest.
///
/// @param columns in the order of display
record Table<T>(List<Column<T>> columns) {
    /// @param width in characters; the minimum for the last one
    /// @param dropOrder the highest value is dropped first; 0 is never dropped
    record Column<T>(
            String title,
            int width,
            boolean right,
            int dropOrder,
            Function<? super T, String> value) {
        static <T> Column<T> text(
                String title, int width, int dropOrder, Function<? super T, String> value) {
            return new Column<>(title, width, false, dropOrder, value);
        }

        static <T> Column<T> number(
                String title, int width, int dropOrder, Function<? super T, String> value) {
            return new Column<>(title, width, true, dropOrder, value);
        }

        private String cell(String text, int width) {
            String shown = Figures.printable(text);
            if (shown.length() > width) {
                return shown.substring(0, width);
            }
            String space = " ".repeat(width - shown.length());
            return right ? space + shown : shown + space;
        }
    }

    /// Returns the table for a screen of some width.
    Table<T> fit(int screen) {
        List<Column<T>> kept = new ArrayList<>(columns);
        while (width(kept) > screen) {
            Column<T> next =
                    kept.stream().max(Comparator.comparingInt(Column::dropOrder)).orElseThrow();
            if (next.dropOrder == 0) {
                break;
            }
            kept.remove(next);
        }
        return new Table<>(kept);
    }

    private int width(List<Column<T>> of) {
        return of.stream().mapToInt(Column::width).sum() + of.size() - 1;
    }

    /// Returns the width that the last column has.
    int lastWidth(int screen) {
        Column<T> last = columns.getLast();
        return Math.max(last.width, screen - width(columns) + last.width);
    }

    String header(int screen) {
        return line(screen, Column::title);
    }

    String row(int screen, T row) {
        return line(screen, column -> column.value.apply(row));
    }

    private String line(int screen, Function<? super Column<T>, String> text) {
        StringBuilder line = new StringBuilder();
        for (Column<T> each : columns) {
            boolean last = each.equals(columns.getLast());
            line.append(line.isEmpty() ? "" : " ")
                    .append(each.cell(text.apply(each), last ? lastWidth(screen) : each.width));
        }
        return line.toString().stripTrailing();
    }
}
