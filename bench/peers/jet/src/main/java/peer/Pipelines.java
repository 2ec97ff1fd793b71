package peer;

import com.hazelcast.jet.aggregate.AggregateOperations;
import com.hazelcast.jet.core.ProcessorMetaSupplier;
import com.hazelcast.jet.core.ProcessorSupplier;
import com.hazelcast.jet.pipeline.Pipeline;
import com.hazelcast.jet.pipeline.Sinks;
import com.hazelcast.jet.pipeline.Sources;
import com.hazelcast.jet.pipeline.WindowDefinition;

/** The jobs. */
final class Pipelines {
    private Pipelines() {
    }

    static Pipeline rolling(long n, long keys, int workers) {
        Pipeline p = Pipeline.create();
        p.readFrom(Sources.<Long>batchFromProcessor("keys",
                ProcessorMetaSupplier.of(workers, ProcessorSupplier.of(() -> new Keys(n, keys)))))
            .groupingKey(key -> key)
            .rollingAggregate(AggregateOperations.counting())
            .setLocalParallelism(workers)
            .writeTo(Sinks.fromProcessor("add", ProcessorMetaSupplier.of(workers, ProcessorSupplier.of(AddCounts::new))));
        return p;
    }

    static Pipeline windowed(Load load, long keys, long windowMillis, int workers) {
        Pipeline p = Pipeline.create();
        p.readFrom(Sources.<Long>streamFromProcessorWithWatermarks("events", true, policy ->
                ProcessorMetaSupplier.of(workers, ProcessorSupplier.of(() -> new Events(load, policy)))))
            .withNativeTimestamps(0)
            .groupingKey(n -> Load.key(n, keys))
            .window(WindowDefinition.tumbling(windowMillis))
            .aggregate(AggregateOperations.counting())
            .setLocalParallelism(workers)
            .writeTo(Sinks.fromProcessor("add",
                ProcessorMetaSupplier.of(workers, ProcessorSupplier.of(() -> new AddWindows(load)))));
        return p;
    }
}
