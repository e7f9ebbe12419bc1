// Package copycmd contains the commands that copy memories out of a home and into one: backup,
// export, import, notes.
package copycmd

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/locket-dev/locket/cmd/internal/meter"
	"github.com/locket-dev/locket/cmd/locket/cli"
	"github.com/locket-dev/locket/internal/filelock"
	"github.com/locket-dev/locket/node/archive"
	"github.com/locket-dev/locket/node/backup"
	"github.com/locket-dev/locket/node/config"
	"github.com/locket-dev/locket/node/serve"
)

// otherBackupWords are commands of other programs for backups.
var otherBackupWords = []string{"list", "ls", "snapshots", "show", "status", "stats", "now", "start", "run", "create", "init", "prune", "forget"}

func BackupCommand(a *cli.App) *cobra.Command {
	var o cli.BackupOptions
	c := &cobra.Command{
		Use: "backup DIR|s3://BUCKET/PREFIX", Short: "Back up everything to a folder or bucket, encrypted and incremental", Args: cli.ArgsBetween(0, 1, "the folder or bucket"),
		Long: `Writes every line that was said and every claim, photos and recordings, and the vault to
DIR, sealed with a passphrase of its own. The next backup to DIR writes only what is new,
and removes what you forgot: DIR contains what you have now, and nothing older. If a backup
is interrupted, the previous one stays. A backup of another home, such as an earlier one of
this machine, also stays: restore it with locket backup restore, or use --replace.

With --every, the daemon repeats the backup. The command writes the settings backup.to,
backup.every and backup.passphrase_file to config.toml, and replaces an earlier schedule. For
the same place it keeps an earlier passphrase file and --without-vault. --every never ends
the schedule, and makes no backup. The daemon reads the schedule when it starts, so restart
it if it is running. Anyone who has both the passphrase file and the backup can read
everything, so keep them apart.

DIR may be on a stick, or be copied anywhere by another program: without the passphrase it
reveals only sizes and times. A bucket is at Amazon, or at any service that speaks S3:
s3://BUCKET/PREFIX?endpoint=URL&region=REGION. Its keys come from AWS_ACCESS_KEY_ID and
AWS_SECRET_ACCESS_KEY in the environment, or from ~/.aws/credentials.`,
		Example: `  locket backup /media/stick/locket
  locket backup /mnt/nas/locket --every 1d --passphrase-file ~/.locket-backup
  locket backup "s3://my-bucket/locket?region=eu-central-1"
  locket backup --every never
  locket backup check /media/stick/locket
  locket backup restore /media/stick/locket`,
		RunE: func(cmd *cobra.Command, args []string) error {
			dir := strings.Join(args, "")
			if _, err := os.Stat(dir); err != nil {
				if meant := cmd.SuggestionsFor(dir); dir != "" && len(meant) > 0 {
					return cli.Usagef("there is no folder %s: for locket backup %s, name the folder after it; for a new folder of that name, write ./%[1]s", dir, meant[0])
				}
				if slices.Contains(otherBackupWords, dir) {
					return cli.UsageError{Err: cli.AdvisedError{Err: fmt.Errorf("there is no folder %s; for a new one of that name, write ./%[1]s", dir),
						Advice: "A backup is one copy of what is here now, and keeps no older ones. To make it: locket backup DIR. To check that it can be read: locket backup check DIR. To see when it was made: locket status"}}
				}
			}
			if o.Every == cli.NeverBackUp {
				return a.EndBackups(dir)
			}
			if o.Every != "" {
				if _, err := cli.ReadBackupEvery(o.Every); err != nil {
					return err
				}
			}
			if dir == "" {
				return cli.Usagef("the folder or bucket is missing")
			}
			return runBackup(a, cmd.Context(), dir, &o)
		},
	}
	c.PersistentFlags().StringVar(&o.File, "passphrase-file", "", "read the backup's passphrase from a `file`")
	c.Flags().BoolVar(&o.WithoutVault, "without-vault", false, "leave the vault's values sealed for this node, so that the vault need not be open")
	c.Flags().BoolVar(&o.Replace, "replace", false, "overwrite a backup of another home, or one that has records while this home has none")
	c.Flags().StringVar(&o.Every, "every", "", "let the daemon repeat it at this `interval`, such as 1d; never ends the schedule")
	check := &cobra.Command{
		Use: "check DIR", Short: "Check a backup by restoring it into a temporary home", Args: cli.ArgsBetween(1, 1, "the folder or bucket"),
		Long:    "Reads the whole backup, restores it into a home in the folder for temporary files, and\ncompares that home with the backup. Then it removes the home.",
		Example: "  locket backup check /media/stick/locket",
		RunE: func(cmd *cobra.Command, args []string) error {
			return checkBackup(a, cmd.Context(), args[0], o.File)
		},
	}
	damaged := false
	restore := &cobra.Command{
		Use: "restore DIR", Short: "Restore a backup into this home", Args: cli.ArgsBetween(1, 1, "the folder or bucket"),
		Long: `Adds to this home what the backup has and the home lacks. To start with an empty home:
locket init.

If a piece of the backup is damaged, nothing is restored. With --damaged, everything in the
other pieces is. A correction in the damaged piece is then missing, too, so a memory may have
an older text.`,
		Example: "  locket backup restore /media/stick/locket",
		RunE: func(cmd *cobra.Command, args []string) error {
			return restoreBackup(a, cmd.Context(), args[0], o.File, damaged)
		},
	}
	restore.Flags().BoolVar(&damaged, "damaged", false, "restore what can be read of a damaged backup")
	c.AddCommand(check, restore)
	c.SuggestionsMinimumDistance = 2
	return c
}

func runBackup(a *cli.App, ctx context.Context, dir string, o *cli.BackupOptions) error {
	schedule, err := a.BackupSchedule(dir, o)
	if err != nil {
		return err
	}
	return a.WithClient(ctx, true, func(cl *serve.Client) error {
		w, err := cli.BackUp(a, ctx, cl, dir, o)
		if err == nil && schedule != nil {
			err = a.SetTable("backup", schedule)
		}
		return a.PrintUnless(err, w, func(out io.Writer) {
			cli.ShowBackup(out, &w)
			if schedule != nil {
				fmt.Fprint(out, a.WithHomef("The daemon will repeat it every %s, from its next start: if it is running, restart it. To see the result: locket status\n", o.Every))
			}
		})
	})
}

// restored is what locket backup restore prints.
type restored struct {
	serve.ImportResult
	Damaged []string `json:"damaged_pieces,omitempty"` // what was in them is missing
}

func restoreBackup(a *cli.App, ctx context.Context, dir, file string, damaged bool) (err error) {
	f, err := cli.OpenBackup(a, ctx, dir, file)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	var done restored
	read := func() iter.Seq2[archive.Record, error] {
		if damaged {
			return f.Readable(ctx, &done.Damaged)
		}
		return f.Records(ctx)
	}
	sum, err := archive.Check(read(), nil)
	if err != nil {
		err = fmt.Errorf("backup: %w", err)
		if errors.Is(err, backup.ErrDamaged) && !damaged {
			err = cli.AdvisedError{Err: err, Advice: "Nothing was restored. Try another copy of the backup, if you have one. To restore what can be read of this one: " + a.WithHomef("locket backup restore %q --damaged", dir)}
		}
		return err
	}
	// Somebody who knows the passphrase wrote the backup, so its signer is trusted.
	opt := serve.ImportOptions{Unsigned: sum.Key == nil}
	if sum.Key != nil {
		opt.Signer = archive.Words(sum.Key)
	}
	return a.WithClient(ctx, true, func(cl *serve.Client) error {
		m := a.Meter("restore", "records", sum.Records)
		done.ImportResult, err = cl.Import(ctx, linesOf(meter.CountItems(m, read())), opt)
		m.End()
		if err != nil {
			err = cli.InterruptedError{Err: err, State: "What was restored so far stays. Run the same command to continue."}
		}
		return a.PrintUnless(err, done, func(w io.Writer) {
			showImported(a, w, "Restored", &done.ImportResult)
			if n := len(done.Damaged); n > 0 {
				fmt.Fprintf(w, "%s is missing here, including corrections of other memories.\n", cli.Plural(n, "piece of the backup is damaged: what was in it", "pieces of the backup are damaged: what was in them"))
			}
			if len(done.Sealed) > 0 {
				fmt.Fprintf(w, "These secrets are sealed to the device that made the backup, and cannot be opened here: %s. To get them, make a backup there by locket backup DIR, without --without-vault, and restore that, too.\n", cli.OneLine(strings.Join(done.Sealed, ", ")))
			}
		})
	})
}

// backupCheck is what locket backup check prints.
type backupCheck struct {
	At      time.Time `json:"at"`
	Records int       `json:"records"`
	Vault   bool      `json:"vault"` // the backup has the values of the vault
	Missing int       `json:"missing"`
	Refused int       `json:"refused"`
}

// checkFolder makes a folder for a temporary home, and removes the folders of runs that were
// killed.
func checkFolder() (dir string, remove func() error, err error) {
	left, err := filepath.Glob(filepath.Join(os.TempDir(), "locket-check-*"))
	if err != nil {
		return "", nil, err
	}
	for _, dir := range left {
		// Another user may have made the folder, with a link in it.
		if is, err := os.Lstat(dir); err != nil || !is.IsDir() {
			continue
		}
		if is, err := os.Lstat(filepath.Join(dir, "lock")); err != nil || !is.Mode().IsRegular() {
			continue
		}
		if l, err := filelock.Take(filepath.Join(dir, "lock")); err == nil { // no other run uses it
			_ = errors.Join(l.Release(), os.RemoveAll(dir)) // or it is another user's
		}
	}
	if dir, err = os.MkdirTemp("", "locket-check-"); err != nil {
		return "", nil, err
	}
	l, err := filelock.Take(filepath.Join(dir, "lock"))
	if err != nil {
		return "", nil, errors.Join(err, os.RemoveAll(dir))
	}
	return dir, func() error { return errors.Join(l.Release(), os.RemoveAll(dir)) }, nil
}

func checkBackup(a *cli.App, ctx context.Context, dir, file string) (err error) {
	f, err := cli.OpenBackup(a, ctx, dir, file)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	content := backup.Content{}
	sum, err := archive.Check(f.Records(ctx), content.Add)
	if errors.Is(err, backup.ErrDamaged) {
		damaged, nerr := f.NoteDamage(ctx)
		err = errors.Join(fmt.Errorf("backup: %w", err), nerr)
		if len(damaged) > 0 {
			advice := cli.Plural(len(damaged), "piece is", "pieces are") + " damaged."
			if nerr == nil {
				advice += " The next locket backup rewrites those that this home still has."
			}
			err = cli.AdvisedError{Err: err, Advice: advice + " To restore what can be read: " + a.WithHomef("locket backup restore %q --damaged", dir)}
		}
		return err
	}
	if err != nil {
		return fmt.Errorf("backup: %w", err)
	}
	scratch, remove, err := checkFolder()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, remove()) }()
	home := filepath.Join(scratch, "home")
	b := &cli.App{Deps: a.Deps, Stdin: a.Stdin, In: a.In, Stdout: io.Discard, Stderr: a.Stderr,
		Flags: []config.Flag{{Name: "--home", Key: "home", Value: home}, {Name: "--set", Key: "log.level", Value: "error"}}}
	b.Environ = slices.DeleteFunc(slices.Clone(a.Environ), func(v string) bool { return strings.HasPrefix(v, "LOCKET_") })
	l, err := b.Load()
	if err != nil {
		return err
	}
	// Nobody can open what a killed run leaves behind.
	o := &cli.InitOptions{Passphrase: serve.Secret(rand.Text()), Language: "en"}
	if _, err := b.InitHome(l.Config, *o); err != nil {
		return err
	}
	if _, err := b.WriteSettings(l, "", "", o); err != nil {
		return err
	}
	b.Settings = nil // read them again, as they were written
	done := backupCheck{At: sum.Header.At, Records: sum.Records, Vault: sum.Header.Secrets}
	m := a.Meter("restore the backup", "records", sum.Records)
	err = b.WithKeys(ctx, true, o.Passphrase, func(cl *serve.Client) error {
		r, err := cl.Import(ctx, linesOf(meter.CountItems(m, f.Records(ctx))), serve.ImportOptions{Signer: archive.Words(sum.Key)})
		if err != nil {
			return err
		}
		if done.Vault {
			if _, err := cl.UnlockVault(ctx, o.Passphrase, time.Minute); err != nil {
				return err
			}
		}
		is, err := backup.ContentOf(cl.Export(ctx, serve.ExportOptions{Secrets: done.Vault}))
		done.Refused, done.Missing = r.Refused, content.Missing(is)
		return err
	})
	m.End()
	if err != nil {
		return fmt.Errorf("backup: restore the backup: %w", err)
	}
	if err := a.Print(done, func(w io.Writer) { showChecked(a, w, &done) }); err != nil {
		return err
	}
	if done.Missing > 0 {
		return errors.New("the restored home differs from the backup")
	}
	if err := f.CheckIndex(ctx); err != nil {
		return cli.AdvisedError{Err: fmt.Errorf("backup: %w", err), Advice: "The other of the two is whole, so nothing is lost. The next locket backup rewrites both."}
	}
	return nil
}

func showChecked(a *cli.App, w io.Writer, c *backupCheck) {
	fmt.Fprintf(w, "The backup of %s has %s; after a restore, %d are missing.\n", c.At.In(a.Zone()).Format("2 Jan 2006, 15:04"), cli.Plural(c.Records, "record", "records"), c.Missing)
}
