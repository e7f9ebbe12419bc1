package homecmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/locket-dev/locket/cmd/locket/cli"
	"github.com/locket-dev/locket/node/serve"
)

func PassphraseCommand(a *cli.App) *cobra.Command {
	var old, next string
	c := &cobra.Command{
		Use: "passphrase", Short: "Set or change the passphrase", Args: cli.NoArgs(),
		Long: `Asks for the current passphrase, if there is one, and for the new one. The change takes a
moment, no matter how much is remembered. If the power fails meanwhile, either the old or
the new passphrase opens the home.

An old copy of the home still opens with the old passphrase.`,
		Example: `  locket passphrase
  locket passphrase --passphrase-file old.txt --new-file new.txt`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.WithPassphraseFile(cmd.Context(), old, func(cl *serve.Client) error { return changePassphrase(a, cmd.Context(), cl, old, next) })
		},
	}
	c.Flags().StringVar(&old, "passphrase-file", "", "read the current passphrase from a `file`")
	c.Flags().StringVar(&next, "new-file", "", "read the new passphrase from a `file`")
	return c
}

func changePassphrase(a *cli.App, ctx context.Context, cl *serve.Client, old, next string) error {
	r, err := proof(a, ctx, cl, old)
	if err != nil {
		return err
	}
	if r.New, err = a.NewPassphrase(next); errors.Is(err, cli.ErrNoTerminal) {
		return cli.Usagef("--new-file is missing, and standard input is not a terminal")
	} else if err != nil {
		return err
	}
	ways, err := cl.SetWay(ctx, serve.WayPassphrase, r)
	if err != nil {
		return err
	}
	if err := a.Print(ways, func(w io.Writer) { fmt.Fprintln(w, "The passphrase is changed.") }); err != nil {
		return err
	}
	adviseFile(a, r.New)
	return nil
}

// proof asks for what a change needs: the current passphrase if nothing else opens the home.
func proof(a *cli.App, ctx context.Context, cl *serve.Client, file string) (r serve.WayRequest, err error) {
	v, err := cl.Ways(ctx)
	if err != nil {
		return r, err
	}
	if file != "" || len(v.Ways) == 1 && v.Ways[0] == serve.WayPassphrase {
		r.Passphrase, err = a.Passphrase(file, "Current passphrase: ")
	}
	return r, err
}

// adviseFile says where the settings still have the old passphrase.
func adviseFile(a *cli.App, now serve.Secret) {
	u := &a.Settings.Unlock
	if u.PassphraseFile != "" {
		b, err := os.ReadFile(u.PassphraseFile)
		if err != nil || strings.TrimRight(string(b), "\r\n") != string(now) {
			fmt.Fprintf(a.Stderr, "The settings read the passphrase from %s, which does not have the new one: put it there, or the node stays locked after its next start.\n", u.PassphraseFile)
		}
	}
	if u.PassphraseEnv != "" {
		fmt.Fprintf(a.Stderr, "The settings read the passphrase from %s: change it there, too.\n", u.PassphraseEnv)
	}
}

func KeysCommand(a *cli.App) *cobra.Command {
	c := &cobra.Command{
		Use: "keys", Short: "Show and change the keys that open the home", Args: cli.NoArgs(),
		Long: `A passphrase, a key file or a key in the OS keyring opens the home. Each one that is set
opens it alone. A change takes a moment, no matter how much is remembered. The 24 words
recover the home whatever is set here.`,
		Example: `  locket keys
  locket keys key-file --path /media/stick/locket.key
  locket keys remove key-file`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.WithClient(cmd.Context(), false, func(cl *serve.Client) error {
				v, err := cl.Ways(cmd.Context())
				if err != nil {
					return err
				}
				return showWays(a, v)
			})
		},
	}
	c.AddCommand(keyFileCommand(a), keyringCommand(a), keysRemoveCommand(a))
	return c
}

var aboutWay = map[serve.Way]string{
	serve.WayPassphrase: "what you know; change it with locket passphrase",
	serve.WayKeyFile:    "a file: anyone who has it and the home can read the memories",
	serve.WayKeyring:    "a key in the OS keyring",
}

func showWays(a *cli.App, v serve.Ways) error {
	return a.Print(v, func(w io.Writer) {
		for _, way := range v.Ways {
			fmt.Fprintf(w, "%-11s %s\n", way, a.Paint.Dim(a.WithHome(aboutWay[way])))
		}
	})
}

func keyFileCommand(a *cli.App) *cobra.Command {
	var old, path string
	c := &cobra.Command{
		Use: "key-file", Short: "Let a key file open the home", Args: cli.NoArgs(),
		Long: `Makes the file, or uses an existing one. An earlier key file stops working. With a key
file in the home, anyone who has the disk can read the memories. With one on a stick, the
home opens only with the stick: set unlock.key_file to its path.`,
		Example: "  locket keys key-file --path /media/stick/locket.key",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if path != "" {
				abs, err := filepath.Abs(path)
				if err != nil {
					return err
				}
				path = abs
			}
			return setWay(a, cmd.Context(), serve.WayKeyFile, old, path)
		},
	}
	c.Flags().StringVar(&path, "path", "", "path of the key `file`; default: in the home")
	c.Flags().StringVar(&old, "passphrase-file", "", "read the current passphrase from a `file`")
	return c
}

func keyringCommand(a *cli.App) *cobra.Command {
	var old string
	c := &cobra.Command{
		Use: "keyring", Short: "Let a key in the OS keyring open the home", Args: cli.NoArgs(),
		Long: `Puts a new key into the keyring of the desktop, which may ask you to confirm. To let the
daemon use it, set unlock.keyring to true.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return setWay(a, cmd.Context(), serve.WayKeyring, old, "")
		},
	}
	c.Flags().StringVar(&old, "passphrase-file", "", "read the current passphrase from a `file`")
	return c
}

func setWay(a *cli.App, ctx context.Context, way serve.Way, passphraseFile, path string) error {
	return a.WithPassphraseFile(ctx, passphraseFile, func(cl *serve.Client) error {
		r, err := proof(a, ctx, cl, passphraseFile)
		if err != nil {
			return err
		}
		r.Path = path
		v, err := cl.SetWay(ctx, way, r)
		if err != nil {
			return err
		}
		return showWays(a, v)
	})
}

func keysRemoveCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use: "remove WAY", Short: "Remove one way to open the home", Args: cli.ArgsBetween(1, 1, "WAY"),
		Long: `The last way can't be removed. A key file that Locket made in the home is deleted. A key
file elsewhere is left alone. Old copies of the home still open as before.`,
		Example: "  locket keys remove passphrase",
		RunE: func(cmd *cobra.Command, args []string) error {
			way := serve.Way(args[0])
			if !slices.Contains([]serve.Way{serve.WayPassphrase, serve.WayKeyFile, serve.WayKeyring}, way) {
				return cli.Usagef("%q is not a way to open the home: want passphrase, key-file or keyring", args[0])
			}
			return a.WithClient(cmd.Context(), true, func(cl *serve.Client) error {
				v, err := cl.RemoveWay(cmd.Context(), way)
				if errors.Is(err, serve.ErrConflict) {
					return cli.AdvisedError{Err: err, Advice: "Set another way first: locket passphrase, locket keys key-file."}
				}
				if err != nil {
					return err
				}
				return showWays(a, v)
			})
		},
	}
}
