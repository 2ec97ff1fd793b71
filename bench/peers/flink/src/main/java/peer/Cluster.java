package peer;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.apache.flink.api.common.JobID;
import org.apache.flink.api.common.JobStatus;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.JobManagerOptions;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.configuration.RestartStrategyOptions;
import org.apache.flink.configuration.StateBackendOptions;
import org.apache.flink.configuration.TaskManagerOptions;
import org.apache.flink.core.execution.CheckpointType;
import org.apache.flink.runtime.jobgraph.JobGraph;
import org.apache.flink.runtime.jobmaster.JobResult;
import org.apache.flink.runtime.minicluster.MiniCluster;
import org.apache.flink.runtime.minicluster.MiniClusterConfiguration;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;

/** Two task managers in this process, which exchange records over loopback TCP. */
final class Cluster implements AutoCloseable {
    static final int PARALLELISM = 2;
    private static final int TASK_MANAGERS = 2;

    final Configuration config = new Configuration();
    private final Out out;
    private final int slots;
    private MiniCluster cluster;

    Cluster(Out out, int slots, String segment) {
        this.out = out;
        this.slots = slots;
        config.set(TaskManagerOptions.NETWORK_MEMORY_MIN, MemorySize.ofMebiBytes(256));
        config.set(TaskManagerOptions.NETWORK_MEMORY_MAX, MemorySize.ofMebiBytes(256));
        config.set(TaskManagerOptions.MANAGED_MEMORY_SIZE, MemorySize.ofMebiBytes(16));
        config.set(TaskManagerOptions.MEMORY_SEGMENT_SIZE, MemorySize.parse(segment));
        config.set(JobManagerOptions.SLOT_REQUEST_TIMEOUT, Duration.ofSeconds(30));
        config.set(StateBackendOptions.STATE_BACKEND, "hashmap");
        config.set(RestartStrategyOptions.RESTART_STRATEGY, "none");
    }

    void start() throws Exception {
        out.setting("task_managers", TASK_MANAGERS);
        out.setting("slots_per_task_manager", slots);
        out.setting("parallelism", PARALLELISM);
        out.setting("object_reuse", true);
        config.toMap().forEach(out::setting);
        cluster = new MiniCluster(new MiniClusterConfiguration.Builder()
                .setConfiguration(config).setNumTaskManagers(TASK_MANAGERS).setNumSlotsPerTaskManager(slots).withRandomPorts().build());
        cluster.start();
    }

    /** An environment for a job of this cluster. */
    StreamExecutionEnvironment environment(long flushMillis) {
        StreamExecutionEnvironment env = new StreamExecutionEnvironment(config);
        env.setParallelism(PARALLELISM);
        env.getConfig().enableObjectReuse();
        env.setBufferTimeout(flushMillis);
        return env;
    }

    /** Checkpoints are taken on request only. */
    void checkpoints(boolean unaligned, String folder) {
        config.set(CheckpointingOptions.CHECKPOINTING_INTERVAL, Duration.ofDays(30));
        config.set(CheckpointingOptions.ENABLE_UNALIGNED, unaligned);
        config.set(CheckpointingOptions.CHECKPOINT_STORAGE, folder == null ? "jobmanager" : "filesystem");
        if (folder != null) {
            config.set(CheckpointingOptions.CHECKPOINTS_DIRECTORY, folder);
        }
    }

    /** Runs a job to its end. */
    void run(StreamExecutionEnvironment env) throws Exception {
        JobID id = submit(env);
        JobResult result = cluster.requestJobResult(id).get();
        result.toJobExecutionResult(Cluster.class.getClassLoader()); // throws if it has failed
    }

    /** Starts a job. */
    JobID submit(StreamExecutionEnvironment env) throws Exception {
        JobGraph graph = env.getStreamGraph().getJobGraph();
        cluster.submitJob(graph).get();
        return graph.getJobID();
    }

    /** Takes a checkpoint and returns how long that took, in seconds, as its caller sees it. */
    double checkpoint(JobID id) throws Exception {
        long began = System.nanoTime();
        cluster.triggerCheckpoint(id, CheckpointType.CONFIGURED).get(10, TimeUnit.MINUTES);
        return (System.nanoTime() - began) / 1e9;
    }

    void awaitRunning(JobID id) throws Exception {
        while (cluster.getJobStatus(id).get() != JobStatus.RUNNING) {
            Thread.sleep(5);
        }
    }

    void kill(int taskManager) throws Exception {
        cluster.terminateTaskManager(taskManager).get();
    }

    void await(JobID id) throws Exception {
        cluster.requestJobResult(id).get().toJobExecutionResult(Cluster.class.getClassLoader());
    }

    void cancel(JobID id) throws Exception {
        cluster.cancelJob(id).get();
        cluster.requestJobResult(id).get();
    }

    @Override
    public void close() {
        cluster.closeAsync(); // the process ends anyway
    }
}
