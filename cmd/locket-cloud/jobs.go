package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/locket-dev/locket/cloud/worker"
	"github.com/locket-dev/locket/cloud/worker/queue"
	"github.com/locket-dev/locket/cloud/worker/queue/postgres"
	"github.com/locket-dev/locket/memory"
)

// jobsFlags are the flags of the subcommands of jobs.
type jobsFlags struct {
	home, db, state, kind, space string
	limit                        int
}

func (a *app) jobsCommand() *cobra.Command {
	f := &jobsFlags{}
	cmd := &cobra.Command{
		Use: "jobs", Short: "List, show, retry and discard a worker's jobs", Args: nothing,
		Long: `List, show, retry and discard the jobs of a worker. The worker may be running.

A job is one kind of work on one subject (a recording, a photo) of one space. A job that
failed is tried again, up to five times. After that, or at once if trying again is useless,
it is parked with the reason, and stays parked until somebody retries or discards it. A
discarded job is not done, and not created again.`,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	p := cmd.PersistentFlags()
	p.StringVar(&f.home, "home", "", "`folder` of the worker")
	p.StringVar(&f.db, "db", os.Getenv("LOCKET_JOBS_DB"), "`postgres://…` database with the jobs, instead of the home (LOCKET_JOBS_DB)")
	list := &cobra.Command{Use: "list --home DIR", Short: "List jobs, newest first", Args: nothing,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.listJobs(cmd.Context(), f) }}
	list.Flags().StringVar(&f.state, "state", "", "only jobs in this `STATE`: waiting, running, done, parked or discarded")
	list.Flags().StringVar(&f.kind, "kind", "", "only jobs of this `KIND`: transcribe, read, caption …")
	list.Flags().StringVar(&f.space, "space", "", "only jobs of the space with this `id`")
	list.Flags().IntVar(&f.limit, "limit", 100, "show at most this many; 0: all")
	cmd.AddCommand(list,
		&cobra.Command{Use: "show --home DIR JOB", Short: "Show one job, with each failure", Args: one("JOB"),
			RunE: func(cmd *cobra.Command, args []string) error { return a.showJob(cmd.Context(), f, args[0]) }},
		&cobra.Command{Use: "retry --home DIR JOB...", Short: "Retry parked, discarded or waiting jobs at once", Args: cobra.MinimumNArgs(1),
			RunE: func(cmd *cobra.Command, args []string) error {
				return a.eachJob(cmd.Context(), f, args, "will be retried", (*queue.Queue).Retry)
			}},
		&cobra.Command{Use: "discard --home DIR JOB...", Short: "Discard waiting or parked jobs", Args: cobra.MinimumNArgs(1),
			RunE: func(cmd *cobra.Command, args []string) error {
				return a.eachJob(cmd.Context(), f, args, "is discarded", (*queue.Queue).Discard)
			}},
	)
	return cmd
}

// openJobs opens the jobs beside the worker.
func openJobs(ctx context.Context, f *jobsFlags) (*queue.Queue, error) {
	if f.home == "" && f.db == "" {
		return nil, fmt.Errorf("%w: --home or --db is missing: where the jobs are", errUsage)
	}
	return worker.Jobs(ctx, worker.Config{Home: f.home, DB: postgres.At(f.db)})
}

func (a *app) listJobs(ctx context.Context, f *jobsFlags) (err error) {
	filter := queue.Filter{Kind: queue.Kind(f.kind), State: queue.State(f.state), Limit: f.limit}
	if !filter.State.Known() {
		return fmt.Errorf("%w: --state %s: want waiting, running, done, parked or discarded", errUsage, f.state)
	}
	if f.space != "" {
		id, err := memory.ParseID(f.space)
		if err != nil {
			return fmt.Errorf("%w: --space: %w", errUsage, err)
		}
		filter.Space = memory.SpaceID(id)
	}
	q, err := openJobs(ctx, f)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, q.Close()) }()
	list, err := q.List(ctx, filter)
	if err != nil {
		return err
	}
	if a.json {
		out := json.NewEncoder(a.stdout)
		for _, j := range list {
			if err := out.Encode(j); err != nil {
				return err
			}
		}
		return nil
	}
	if len(list) == 0 {
		fmt.Fprintln(a.stderr, "no such jobs: they are created once data granted by an owner has arrived")
	}
	out := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
	for _, j := range list {
		fmt.Fprintf(out, "%d\t%s\t%s\t%s\t%s\t%d\t%s\n", j.ID, j.State, j.Kind, j.Subject, j.Engine, j.Attempts, j.Reason)
	}
	return out.Flush()
}

func jobID(s string) (int64, error) {
	id, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%w: %q is not the number of a job; to list them: 'locket-cloud jobs list'", errUsage, s)
	}
	return id, nil
}

func (a *app) showJob(ctx context.Context, f *jobsFlags, name string) (err error) {
	id, err := jobID(name)
	if err != nil {
		return err
	}
	q, err := openJobs(ctx, f)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, q.Close()) }()
	j, err := q.Job(ctx, id)
	if err != nil {
		return err
	}
	if a.json {
		return json.NewEncoder(a.stdout).Encode(j)
	}
	out := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
	row := func(name string, value any) { fmt.Fprintf(out, "%s\t%v\n", name, value) }
	row("job", j.ID)
	row("space", j.Space)
	row("work", fmt.Sprintf("%s %s (version %s)", j.Kind, j.Subject, j.Version))
	row("state", j.State)
	if j.Engine != "" {
		row("engine", j.Engine)
	}
	if j.Reason != "" {
		row("reason", j.Reason)
	}
	row("tried", fmt.Sprintf("%d times", j.Attempts))
	if !j.Next.IsZero() {
		row("not before", j.Next.Format(time.RFC3339))
	}
	row("updated", j.Updated.Format(time.RFC3339))
	if j.Cost != (queue.Cost{}) {
		row("cost", fmt.Sprintf("%d tokens, $%s", j.Tokens, j.MicroUSD))
	}
	for _, e := range j.Failures {
		row(fmt.Sprintf("failure %d", e.Attempt), e.At.Format(time.RFC3339)+"  "+e.Reason)
	}
	return out.Flush()
}

// eachJob does something to each job. If it fails for one, it continues with the others.
func (a *app) eachJob(ctx context.Context, f *jobsFlags, names []string, did string, do func(*queue.Queue, context.Context, int64) error) (err error) {
	var ids []int64
	for _, name := range names {
		id, err := jobID(name)
		if err != nil {
			return err
		}
		ids = append(ids, id)
	}
	q, err := openJobs(ctx, f)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, q.Close()) }()
	for _, id := range ids {
		if e := do(q, ctx, id); e != nil {
			err = errors.Join(err, e)
			continue
		}
		if a.json {
			j, e := q.Job(ctx, id)
			err = errors.Join(err, e, json.NewEncoder(a.stdout).Encode(j))
		} else {
			fmt.Fprintf(a.stdout, "job %d %s\n", id, did)
		}
	}
	return err
}
