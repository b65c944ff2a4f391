package dev.gyre.cli.admin;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.function.Function;

/// Formats rows in columns of fixed width. If the screen is too narrow, the least important columns
/// are left out. The last column takes the rest.
///
/// @param columns in the order of display
record Table<T>(List<Column<T>> columns) {
    /// @param width in characters; the minimum for the last one
    /// @param importance columns with the largest number are left out first; 0 for never
    record Column<T>(
            String title,
            int width,
            boolean right,
            int importance,
            Function<? super T, String> value) {
        static <T> Column<T> text(
                String title, int width, int importance, Function<? super T, String> value) {
            return new Column<>(title, width, false, importance, value);
        }

        static <T> Column<T> number(
                String title, int width, int importance, Function<? super T, String> value) {
            return new Column<>(title, width, true, importance, value);
        }

        private String cell(String text, int cut) {
            String shown = Figures.printable(text);
            if (shown.length() > cut) {
                return shown.substring(0, cut);
            }
            String space = " ".repeat(cut - shown.length());
            return right ? space + shown : shown + space;
        }
    }

    /// Returns the table for a screen of some width.
    Table<T> fit(int screen) {
        List<Column<T>> kept = new ArrayList<>(columns);
        while (width(kept) > screen) {
            Column<T> least =
                    kept.stream().max(Comparator.comparingInt(Column::importance)).orElseThrow();
            if (least.importance == 0) {
                break;
            }
            kept.remove(least);
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
