package dev.gyre.cli;

import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// Parses a size in bytes: `4096`, `64k`, `10m`, `2g`, in powers of 1024.
final class Sizes implements ITypeConverter<Long> {
    private static final Pattern FORM = Pattern.compile("([0-9]{1,9})([kKmMgG]?)");

    @Override
    public Long convert(String value) {
        Matcher matcher = FORM.matcher(value);
        if (!matcher.matches()) {
            throw new TypeConversionException(
                    "'" + value + "' is not a size: write 4096, 64k, 10m or 2g");
        }
        int shift =
                switch (matcher.group(2)) {
                    case "k", "K" -> 10;
                    case "m", "M" -> 20;
                    case "g", "G" -> 30;
                    default -> 0;
                };
        return Long.parseLong(matcher.group(1)) << shift;
    }
}
