package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/locket-dev/locket/cloud/relay/embedded"
	"github.com/locket-dev/locket/cloud/relay/migrate"
	"github.com/locket-dev/locket/cloud/relay/postgres"
)

// tables migrates a store.
type tables interface {
	Up(context.Context) ([]migrate.Step, error)
	Down(ctx context.Context, destroy bool) (migrate.Step, error)
	Status(context.Context) ([]migrate.Step, error)
	Close() error
}

func (a *app) migrateCommand() *cobra.Command {
	var w where
	cmd := &cobra.Command{
		Use: "migrate", Short: "Migrate the tables of a store to another version",
		Long: `Migrate the tables of a store to this program's version, or back.

'serve' upgrades a folder (--data) by itself. A relay must not serve the folder during
a migration. A database (--db) is upgraded here, with a login that may create tables
and roles. 'serve' then needs a login that is a member of locket_relay:

    locket-cloud migrate up --db postgres://admin@db.example/locket
    psql -c 'CREATE ROLE locket LOGIN IN ROLE locket_relay'
    locket-cloud serve --db postgres://locket@db.example/locket --blobs s3://…`,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		Args: nothing,
	}
	destroy := false
	add := func(use, short string, f func(context.Context, tables) ([]migrate.Step, error)) *cobra.Command {
		c := &cobra.Command{Use: use, Short: short, Args: nothing, RunE: func(cmd *cobra.Command, _ []string) error {
			return a.migrate(cmd.Context(), w, f)
		}}
		c.Flags().StringVar(&w.data, "data", "", "`folder` of a store")
		c.Flags().StringVar(&w.db, "db", "", "`URL` of a PostgreSQL database, postgres://…")
		cmd.AddCommand(c)
		return c
	}
	add("up", "Apply all remaining steps", func(ctx context.Context, t tables) ([]migrate.Step, error) { return t.Up(ctx) })
	down := add("down", "Revert the last step", func(ctx context.Context, t tables) ([]migrate.Step, error) {
		step, err := t.Down(ctx, destroy)
		return []migrate.Step{step}, err
	})
	down.Flags().BoolVar(&destroy, "destroy", false, "revert the first step, too, which deletes everything that is stored")
	add("status", "List the steps, and which were applied", func(ctx context.Context, t tables) ([]migrate.Step, error) { return t.Status(ctx) })
	return cmd
}

func (a *app) migrate(ctx context.Context, w where, f func(context.Context, tables) ([]migrate.Step, error)) (err error) {
	if err := w.check(); err != nil {
		return err
	}
	var t tables
	if w.db != "" {
		t, err = postgres.Migrate(w.db)
	} else {
		t, err = embedded.Migrate(ctx, w.data)
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, t.Close()) }()
	steps, err := f(ctx, t)
	if errors.Is(err, migrate.ErrBottom) {
		return fmt.Errorf("%w (--destroy reverts that, too, and deletes everything that is stored)", err)
	}
	if err != nil {
		return err
	}
	if len(steps) == 0 && !a.json {
		_, err := fmt.Fprintln(a.stdout, "nothing to do")
		return err
	}
	for _, s := range steps {
		state := "pending"
		if s.Applied {
			state = "applied"
		}
		if err := a.print(s, "%s  %s", state, s.Name); err != nil {
			return err
		}
	}
	return nil
}
