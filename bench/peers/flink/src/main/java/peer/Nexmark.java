package peer;

import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.functions.FlatMapFunction;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.api.java.tuple.Tuple4;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.KeyedProcessFunction;
import org.apache.flink.streaming.api.operators.AbstractStreamOperator;
import org.apache.flink.streaming.api.operators.BoundedOneInput;
import org.apache.flink.streaming.api.operators.OneInputStreamOperator;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.util.Collector;

/** Queries of Nexmark over events that are in memory as objects. */
final class Nexmark {
    private static Event[] events; // shared by all subtasks

    private final Params p;
    private final Out out;

    Nexmark(Params p) {
        this.p = p;
        this.out = new Out(p.name);
    }

    void run() throws Exception {
        events = Event.read(p.text("folder") + "/events");
        try (Cluster cluster = new Cluster(out, 1, "32kb")) {
            cluster.start();
            out.setting("events", "in memory, as objects");
            double logs = 0;
            String[] queries = p.text("queries").split("\\+");
            for (String q : queries) {
                job(cluster, q, false);
                String check = Totals.hash();
                long rows = Totals.records();
                for (int i = 1; i < p.integer("warmups"); i++) {
                    job(cluster, q, true);
                }
                double cpu = 0;
                for (int i = 0; i < p.integer("rounds"); i++) {
                    job(cluster, q, true);
                    cpu += Totals.cpu();
                }
                cpu = cpu / p.integer("rounds") / events.length;
                logs += Math.log(cpu);
                out.figure(q, "s/record", cpu, rows, check, null);
            }
            out.figure("mean", "s/record", Math.exp(logs / queries.length));
            out.memory();
        }
    }

    private void job(Cluster cluster, String query, boolean brief) throws Exception {
        StreamExecutionEnvironment env = cluster.environment(100);
        DataStream<Event> stream = env.fromSource(new Numbers<Event>(() -> n -> events[(int) n], events.length, 0, 100),
                WatermarkStrategy.noWatermarks(), "events", TypeInformation.of(Event.class));
        if (query.equals("running")) {
            stream.flatMap(new Priced()).returns(Keyed.PAIR).keyBy(t -> t.f0, Types.LONG)
                    .process(new Running(), Running.ROW).transform("rows", Types.LONG, new Changes());
        } else {
            Query.OfBid f = Query.of(query);
            stream.flatMap((Event e, Collector<Query.Offer> o) -> {
                if (e.bid) {
                    f.of(e, o);
                }
            }).returns(TypeInformation.of(Query.Offer.class)).transform("rows", Types.LONG, new Fold(Query.fold(query), brief));
        }
        Totals.reset();
        cluster.run(env);
    }

    private static final class Priced implements FlatMapFunction<Event, Tuple2<Long, Long>> {
        private transient Tuple2<Long, Long> one;

        @Override
        public void flatMap(Event e, Collector<Tuple2<Long, Long>> collector) {
            if (e.bid) {
                if (one == null) {
                    one = new Tuple2<>();
                }
                one.f0 = e.auction;
                one.f1 = e.price;
                collector.collect(one);
            }
        }
    }

    /** The number and the maximum of the bids of each auction, with the maximum before. */
    private static final class Running extends KeyedProcessFunction<Long, Tuple2<Long, Long>, Tuple4<Long, Long, Long, Long>> {
        static final TypeInformation<Tuple4<Long, Long, Long, Long>> ROW = Types.TUPLE(Types.LONG, Types.LONG, Types.LONG, Types.LONG);

        private transient ValueState<Tuple2<Long, Long>> state;
        private transient Tuple4<Long, Long, Long, Long> one;

        @Override
        public void open(OpenContext context) {
            state = getRuntimeContext().getState(new ValueStateDescriptor<>("total", Keyed.PAIR));
            one = new Tuple4<>();
        }

        @Override
        public void processElement(Tuple2<Long, Long> v, Context context, Collector<Tuple4<Long, Long, Long, Long>> collector) throws Exception {
            Tuple2<Long, Long> total = state.value();
            if (total == null) {
                total = Tuple2.of(0L, 0L);
            }
            one.f3 = total.f1;
            total.f0++;
            total.f1 = Math.max(total.f1, v.f1);
            state.update(total);
            one.f0 = v.f0;
            one.f1 = total.f0;
            one.f2 = total.f1;
            collector.collect(one);
        }
    }

    private static final class Fold extends Sink<Query.Offer> {
        private final Query.Fold fold;

        Fold(Query.Fold fold, boolean brief) {
            super(brief);
            this.fold = fold;
        }

        @Override
        void row(Rows rows, Query.Offer o) {
            fold.of(rows, o);
        }
    }

    private static final class Changes extends Sink<Tuple4<Long, Long, Long, Long>> {
        Changes() {
            super(true); // there are no texts
        }

        @Override
        void row(Rows rows, Tuple4<Long, Long, Long, Long> t) {
            if (t.f1 > 1) {
                rows.begin().number(t.f0).number(t.f1 - 1).number(t.f3).remove();
            }
            rows.begin().number(t.f0).number(t.f1).number(t.f2).add();
        }
    }

    /** A sink that makes the hash of the table. */
    private abstract static class Sink<T> extends AbstractStreamOperator<Long> implements OneInputStreamOperator<T, Long>, BoundedOneInput {
        private final boolean brief;
        private transient Rows rows;

        Sink(boolean brief) {
            this.brief = brief;
        }

        abstract void row(Rows rows, T v);

        @Override
        public void open() throws Exception {
            super.open();
            rows = new Rows(brief);
        }

        @Override
        public void processElement(StreamRecord<T> element) {
            row(rows, element.getValue());
        }

        @Override
        public void endInput() {
            Totals.add(rows.count, rows.sum);
        }
    }
}
