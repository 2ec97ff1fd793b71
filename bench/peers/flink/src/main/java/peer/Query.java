package peer;

import java.io.Serializable;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.flink.util.Collector;

/** The queries of Nexmark that make a row, or none, of a bid. */
final class Query {
    private static final long EUROS = 908;
    private static final long THOUSAND = 1000;
    private static final Pattern CHANNEL = Pattern.compile("(&|^)channel_id=([^&]*)");

    private Query() {}

    /** What most queries want of a bid. */
    static final class Offer {
        long auction;
        long bidder;
        long price;
        long time;
        long number;
        String text;
        String more;
        String[] folders;

        private Offer(Event e, long price) {
            auction = e.auction;
            bidder = e.bidder;
            this.price = price;
            time = e.time;
        }
    }

    interface OfBid extends Serializable {
        void of(Event bid, Collector<Offer> out);
    }

    interface Fold extends Serializable {
        void of(Rows rows, Offer o);
    }

    static OfBid of(String name) {
        return switch (name) {
            case "q0" -> (e, out) -> out.collect(extra(e, e.price));
            case "q1" -> (e, out) -> out.collect(extra(e, e.price * EUROS));
            case "q2" -> (e, out) -> {
                if (e.auction % 123 == 0) {
                    out.collect(new Offer(e, e.price));
                }
            };
            case "q14" -> Query::calculated;
            case "q21" -> Query::identified;
            case "q22" -> Query::located;
            default -> throw new IllegalArgumentException("no query " + name);
        };
    }

    static Fold fold(String name) {
        return switch (name) {
            case "q0", "q1" -> (r, o) -> r.begin().number(o.auction).number(o.bidder).number(o.price).number(o.time).text(o.text).add();
            case "q2" -> (r, o) -> r.begin().number(o.auction).number(o.price).add();
            case "q14" -> (r, o) -> r.begin().number(o.auction).number(o.bidder).number(o.price).text(o.more).number(o.time).text(o.text)
                    .number(o.number).add();
            case "q21" -> (r, o) -> r.begin().number(o.auction).number(o.bidder).number(o.price).text(o.text).text(o.more).add();
            case "q22" -> (r, o) -> {
                r.begin().number(o.auction).number(o.bidder).number(o.price).text(o.text);
                for (String f : o.folders) {
                    r.text(f);
                }
                r.add();
            };
            default -> throw new IllegalArgumentException("no query " + name);
        };
    }

    private static Offer extra(Event e, long price) {
        Offer o = new Offer(e, price);
        o.text = e.extra;
        return o;
    }

    private static void calculated(Event e, Collector<Offer> out) {
        long price = e.price * EUROS;
        if (price <= 1_000_000 * THOUSAND || price >= 50_000_000 * THOUSAND) {
            return;
        }
        Offer o = extra(e, price);
        long hour = e.time / (60 * 60 * 1000) % 24;
        o.more = hour >= 8 && hour <= 18 ? "dayTime" : hour <= 6 || hour >= 20 ? "nightTime" : "otherTime";
        for (int i = 0; i < e.extra.length(); i++) {
            if (e.extra.charAt(i) == 'c') {
                o.number++;
            }
        }
        out.collect(o);
    }

    private static void identified(Event e, Collector<Offer> out) {
        String id = channel(e.channel, e.url);
        if (id != null) {
            Offer o = new Offer(e, e.price);
            o.text = e.channel;
            o.more = id;
            out.collect(o);
        }
    }

    private static String channel(String name, String url) {
        switch (name.toLowerCase()) {
            case "apple":
                return "0";
            case "google":
                return "1";
            case "facebook":
                return "2";
            case "baidu":
                return "3";
            default:
                Matcher m = CHANNEL.matcher(url);
                return m.find() ? m.group(2) : null;
        }
    }

    private static void located(Event e, Collector<Offer> out) {
        Offer o = new Offer(e, e.price);
        o.text = e.channel;
        o.folders = new String[] {"", "", ""};
        int from = 0;
        for (int i = 0; i < 6 && from >= 0; i++) {
            int to = e.url.indexOf('/', from);
            if (i >= 3) {
                o.folders[i - 3] = to < 0 ? e.url.substring(from) : e.url.substring(from, to);
            }
            from = to < 0 ? -1 : to + 1;
        }
        out.collect(o);
    }
}
