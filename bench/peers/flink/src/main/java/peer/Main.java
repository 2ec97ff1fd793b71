package peer;

import java.util.HashMap;
import java.util.Map;

/** A measurement with Flink: --case NAME KEY=VALUE ... prints figures as JSON lines. */
public final class Main {
    public static void main(String[] args) {
        int code = 1;
        try {
            if (args.length < 2 || !args[0].equals("--case")) {
                throw new IllegalArgumentException("usage: --case NAME KEY=VALUE ...");
            }
            Map<String, String> params = new HashMap<>();
            for (int i = 2; i < args.length; i++) {
                int at = args[i].indexOf('=');
                params.put(args[i].substring(0, at), args[i].substring(at + 1));
            }
            run(args[1], new Params(args[1], params));
            code = 0;
        } catch (Throwable e) {
            e.printStackTrace();
            Throwable root = e;
            while (root.getCause() != null) {
                root = root.getCause();
            }
            System.err.println("cause: " + root);
        }
        System.out.flush();
        Runtime.getRuntime().halt(code); // threads of the cluster may be left
    }

    private static void run(String name, Params p) throws Exception {
        switch (name) {
            case "throughput" -> new Throughput(p).run();
            case "keyby" -> new Keyed(p).run();
            case "chain" -> new Chain(p).run();
            case "pressure" -> new Pressure(p).run();
            case "pause" -> new Pause(p).run();
            case "recovery" -> new Recovery(p).run();
            case "latency" -> new Latency(p).run();
            case "nexmark" -> new Nexmark(p).run();
            default -> throw new IllegalArgumentException("no case " + name);
        }
    }
}
