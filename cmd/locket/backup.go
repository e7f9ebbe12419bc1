package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/node/archive"
	"github.com/locket-dev/locket/node/backup"
	"github.com/locket-dev/locket/node/config"
	"github.com/locket-dev/locket/node/serve"
)

func (a *app) backupCommand() *cobra.Command {
	var file string
	var withoutVault bool
	c := &cobra.Command{
		Use: "backup DIR", Short: "Keep everything in a folder, sealed, and write only what is new", Args: between(1, 1, "the folder"),
		Long: `Writes every line that was said and every claim, photos and recordings, and the vault, into
DIR, sealed under a passphrase of its own. The next backup into DIR writes what is new, and
takes away what you forgot: the folder holds what you have now, and nothing older. Where it is
interrupted, the backup before stays.

For a schedule, such as a timer of systemd, give --passphrase-file. The folder may lie on a
stick, or be carried anywhere by another program: whoever has it without the passphrase sees
sizes and times alone.`,
		Example: `  locket backup /media/stick/locket
  locket backup check /media/stick/locket
  locket backup restore /media/stick/locket`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.backup(cmd.Context(), args[0], file, withoutVault)
		},
	}
	c.PersistentFlags().StringVar(&file, "passphrase-file", "", "read the backup's passphrase from a `file`")
	c.Flags().BoolVar(&withoutVault, "without-vault", false, "leave the values of the vault out, so that nothing has to open it")
	check := &cobra.Command{
		Use: "check DIR", Short: "Restore a backup into a home that is thrown away, and compare", Args: between(1, 1, "the folder"),
		Long:    "Reads the whole backup, takes it into a home in the folder for temporary files, and compares\nwhat that has then with what the backup has. The home is removed.",
		Example: "  locket backup check /media/stick/locket",
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.checkBackup(cmd.Context(), args[0], file)
		},
	}
	restore := &cobra.Command{
		Use: "restore DIR", Short: "Take a backup into this home", Args: between(1, 1, "the folder"),
		Long:    "Takes in what the backup has and the home has not. To begin with an empty one: locket init.",
		Example: "  locket backup restore /media/stick/locket",
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.restoreBackup(cmd.Context(), args[0], file)
		},
	}
	c.AddCommand(check, restore)
	return c
}

func (a *app) backup(ctx context.Context, dir, file string, withoutVault bool) error {
	return a.with(ctx, true, func(cl *serve.Client) (err error) {
		f, err := a.openBackup(dir, file)
		if errors.Is(err, backup.ErrNone) {
			var pass serve.Secret
			if pass, err = a.newPassphrase(file); err == nil {
				f, err = backup.Make(dir, string(pass))
			}
		}
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, f.Close()) }()
		opt := serve.ExportOptions{Secrets: !withoutVault}
		before, err := f.Index()
		if err != nil && !errors.Is(err, backup.ErrNone) {
			fmt.Fprintf(a.stderr, "What is there is damaged, and is written anew: %v\n", err)
		}
		write := func() (backup.Written, error) {
			m := a.meter("back up", "records", before.Records)
			defer m.end()
			return f.Write(ctx, m.counted(cl.Export(ctx, opt)))
		}
		w, err := write()
		if errors.Is(err, serve.ErrVaultLocked) && opt.Secrets {
			if _, err = a.openVault(ctx, cl, "", time.Minute); err == nil {
				w, err = write()
			}
		}
		if err != nil {
			return fmt.Errorf("backup: %w", err)
		}
		return a.print(w, func(out io.Writer) {
			fmt.Fprintf(out, "%s in %s. New: %d of them, %s; %d removed.\n", plural(w.Records, "record", "records"), plural(w.Pieces, "piece", "pieces"), w.New, size(w.Bytes), w.Gone)
		})
	})
}

// openBackup opens a backup that is there.
func (a *app) openBackup(dir, file string) (*backup.Folder, error) {
	if _, err := os.Stat(filepath.Join(dir, "key.age")); err != nil {
		return nil, fmt.Errorf("%w: %s", backup.ErrNone, dir)
	}
	pass, err := a.passphrase(file, "Passphrase of the backup: ")
	if err != nil {
		return nil, err
	}
	f, err := backup.Open(dir, string(pass))
	if errors.Is(err, seal.ErrFile) {
		return nil, fmt.Errorf("backup: this is not its passphrase, or key.age is damaged: %w", err)
	}
	return f, err
}

func (a *app) restoreBackup(ctx context.Context, dir, file string) (err error) {
	f, err := a.openBackup(dir, file)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	// Whoever knows the passphrase wrote it, so that its signer is trusted.
	sum, err := archive.Check(f.Records(), nil)
	if err != nil {
		return fmt.Errorf("backup: %w", err)
	}
	return a.with(ctx, true, func(cl *serve.Client) error {
		m := a.meter("restore", "records", sum.Records)
		r, err := cl.Import(ctx, linesOf(m.counted(f.Records())), serve.ImportOptions{Signer: archive.Words(sum.Key)})
		m.end()
		return a.printed(err, r, func(w io.Writer) {
			fmt.Fprintf(w, "Took %s; %d there already, %d refused.\n", plural(r.Taken, "record", "records"), r.Skipped, r.Refused)
		})
	})
}

// backupCheck is what locket backup check says.
type backupCheck struct {
	At      time.Time `json:"at"`
	Records int       `json:"records"`
	Vault   bool      `json:"vault"` // with the values of the vault
	Missing int       `json:"missing"`
	Refused int       `json:"refused"`
}

func (a *app) checkBackup(ctx context.Context, dir, file string) (err error) {
	f, err := a.openBackup(dir, file)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	was := backup.Content{}
	sum, err := archive.Check(f.Records(), was.Add)
	if err != nil {
		return fmt.Errorf("backup: %w", err)
	}
	scratch, err := os.MkdirTemp("", "locket-check-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(scratch)) }()
	home := filepath.Join(scratch, "home")
	b := &app{deps: a.deps, stdin: a.stdin, in: a.in, stdout: io.Discard, stderr: a.stderr,
		flags: []config.Flag{{Name: "--home", Key: "home", Value: home}, {Name: "--set", Key: "log.level", Value: "error"}}}
	b.environ = slices.DeleteFunc(slices.Clone(a.environ), func(v string) bool { return strings.HasPrefix(v, "LOCKET_") })
	l, err := b.load()
	if err != nil {
		return err
	}
	o := &initOptions{keyFile: true, language: "en"}
	if _, err := b.initHome(l.Config, *o); err != nil {
		return err
	}
	if _, err := b.writeSettings(l, "", o); err != nil {
		return err
	}
	b.settings = nil // with what was written
	done := backupCheck{At: sum.Header.At, Records: sum.Records, Vault: sum.Header.Secrets}
	m := a.meter("restore it", "records", sum.Records)
	err = b.with(ctx, true, func(cl *serve.Client) error {
		r, err := cl.Import(ctx, linesOf(m.counted(f.Records())), serve.ImportOptions{Signer: archive.Words(sum.Key)})
		if err != nil {
			return err
		}
		if done.Vault {
			if _, err := b.openVault(ctx, cl, "", time.Minute); err != nil {
				return err
			}
		}
		is, err := backup.ContentOf(cl.Export(ctx, serve.ExportOptions{Secrets: done.Vault}))
		done.Refused, done.Missing = r.Refused, was.Missing(is)
		return err
	})
	m.end()
	if err != nil {
		return fmt.Errorf("backup: restore it: %w", err)
	}
	if err := a.print(done, func(w io.Writer) {
		fmt.Fprintf(w, "The backup of %s has %s; restored, %d are missing.\n", done.At.Local().Format("2 Jan 2006, 15:04"), plural(done.Records, "record", "records"), done.Missing)
	}); err != nil {
		return err
	}
	if done.Missing > 0 {
		return errors.New("the backup is not what it restores")
	}
	return nil
}
