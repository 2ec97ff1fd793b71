package peer;

import java.util.Map;

/** The parameters of a case. */
final class Params {
    final String name;
    private final Map<String, String> all;

    Params(String name, Map<String, String> all) {
        this.name = name;
        this.all = all;
    }

    long number(String key) {
        return Long.parseLong(text(key));
    }

    int integer(String key) {
        return Integer.parseInt(text(key));
    }

    String text(String key) {
        String v = all.get(key);
        if (v == null) {
            throw new IllegalArgumentException("parameter " + key + " is missing");
        }
        return v;
    }

    String text(String key, String otherwise) {
        return all.getOrDefault(key, otherwise);
    }
}
