package plugincmd

import (
	"context"
	"crypto/ed25519"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/locket-dev/locket/cmd/locket/cli"
	"github.com/locket-dev/locket/crypto/publisher"
	"github.com/locket-dev/locket/internal/atomicfile"
	"github.com/locket-dev/locket/wasm"
	"github.com/locket-dev/locket/wasm/bundle"
	"github.com/locket-dev/locket/wasm/trust"
)

// publisherKeyFile returns the default path of an author's key.
func publisherKeyFile() (string, error) {
	dir, err := os.UserConfigDir()
	if err != nil {
		return "", fmt.Errorf("no folder for the publisher key; name the file yourself: %w", err)
	}
	return filepath.Join(dir, "locket", "publisher.key"), nil
}

func keygenCommand(a *cli.App) *cobra.Command {
	var passFile string
	var plain bool
	c := &cobra.Command{
		Use: "keygen [FILE]", Short: "Make the key with which you sign your plugins", Args: cli.ArgsBetween(0, 1, ""),
		Long: `Makes an Ed25519 key, encrypted with a passphrase. Homes that install a plugin of yours
pin this key: the next version must be signed with it, too, so keep a copy of the file.
Publish its public half, FILE.pub.

A key without a passphrase is refused if the mode of the file lets others read it. Windows
has no such mode: keep the file in a folder that only you can read.`,
		Example: `  locket plugin keygen
  locket plugin keygen ann.key --no-passphrase`,
		RunE: func(_ *cobra.Command, args []string) error {
			file, err := publisherKeyFile()
			if len(args) == 1 {
				file, err = args[0], nil
			}
			if err != nil {
				return err
			}
			if _, err := os.Stat(file); err == nil {
				return fmt.Errorf("%w: %s", publisher.ErrExists, file)
			}
			pass := ""
			if !plain {
				p, err := a.Passphrase(passFile, "Passphrase of the new key: ")
				if err != nil {
					return keyNeedsPassphrase(err)
				}
				if passFile == "" {
					again, err := a.Passphrase("", "Once more: ")
					if err != nil {
						return err
					}
					if again != p {
						return errors.New("the two passphrases differ; no key was made")
					}
				}
				if pass = string(p); pass == "" {
					return errors.New("the passphrase is empty; --no-passphrase makes a key without one")
				}
			}
			if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
				return fmt.Errorf("making publisher key: %w", err)
			}
			pub, err := publisher.Create(file, pass)
			if err != nil {
				return err
			}
			made := struct {
				File        string `json:"file"`
				Public      string `json:"public"`
				Fingerprint string `json:"fingerprint"`
			}{file, hex.EncodeToString(pub), trust.Fingerprint(hex.EncodeToString(pub))}
			return a.Print(made, func(w io.Writer) {
				fmt.Fprintf(w, "Wrote %s, and its public half beside it.\nFingerprint: %s\n", made.File, made.Fingerprint)
				fmt.Fprintln(w, "Keep a copy: without this key you cannot publish new versions of your plugins.")
			})
		},
	}
	c.Flags().StringVar(&passFile, "passphrase-file", "", "read the passphrase from this `file`")
	c.Flags().BoolVar(&plain, "no-passphrase", false, "do not encrypt the key: anyone who reads the file can publish in your name")
	return c
}

func keyNeedsPassphrase(err error) error {
	if errors.Is(err, cli.ErrNoTerminal) {
		return errors.New("a passphrase for the key is needed, and standard input is not a terminal: use --passphrase-file, or --no-passphrase")
	}
	return err
}

// publisherKey reads a key, and asks for its passphrase if it has one.
func publisherKey(a *cli.App, file, passFile string) (ed25519.PrivateKey, error) {
	if file == "" {
		var err error
		if file, err = publisherKeyFile(); err != nil {
			return nil, err
		}
	}
	key, err := publisher.Read(file, func() (string, error) {
		p, err := a.Passphrase(passFile, "Passphrase of "+file+": ")
		return string(p), err
	})
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("there is no publisher key at %s: make one with locket plugin keygen, or give yours with --key", file)
	}
	return key, err
}

func signCommand(a *cli.App) *cobra.Command {
	var keyFile, passFile, out string
	c := &cobra.Command{
		Use: "sign [FOLDER]", Short: "Sign a built plugin into a file that others can install", Args: cli.ArgsBetween(0, 1, ""),
		Long: `Takes plugin.toml, plugin.wasm and, if they exist, README.md and LICENSE from the folder.
Writes the module's hash and your key into the manifest, signs it, and makes
ID-VERSION` + bundle.Extension + `.`,
		Example: `  locket plugin build && locket plugin test && locket plugin sign`,
		RunE: func(cmd *cobra.Command, args []string) error {
			dir := folderIn(args)
			b, err := bundle.ReadPath(dir)
			if err != nil {
				return notBuilt(dir, err)
			}
			if err := loads(cmd.Context(), b.Module, b.Manifest); err != nil {
				return err
			}
			key, err := publisherKey(a, keyFile, passFile)
			if err != nil {
				return err
			}
			signed, err := bundle.Sign(b.Manifest, b.Module, key)
			if err != nil {
				return err
			}
			signed.Readme, signed.Licence = b.Readme, b.Licence
			m, err := signed.Open()
			if err != nil {
				return err
			}
			if out == "" {
				out = filepath.Join(dir, strings.ReplaceAll(m.ID, "/", "-")+"-"+m.Version+bundle.Extension)
			}
			if err := atomicfile.Stream(out, func(w io.Writer) error { return bundle.Write(w, signed) }); err != nil {
				return err
			}
			done := struct {
				File        string `json:"file"`
				ID          string `json:"id"`
				Version     string `json:"version"`
				SHA256      string `json:"sha256"`
				Publisher   string `json:"publisher"`
				Fingerprint string `json:"fingerprint"`
			}{out, m.ID, m.Version, m.SHA256, m.Publisher, trust.Fingerprint(m.Publisher)}
			return a.Print(done, func(w io.Writer) {
				fmt.Fprint(w, a.WithHomef("Signed %s %s as %s\nby %s.\nTo install it: locket plugin install %s\n", m.ID, m.Version, out, done.Fingerprint, out))
			})
		},
	}
	f := c.Flags()
	f.StringVar(&keyFile, "key", "", "the key `file`; default: publisher.key in your configuration folder")
	f.StringVar(&passFile, "passphrase-file", "", "read the key's passphrase from this `file`")
	f.StringVarP(&out, "output", "o", "", "the `file` to write")
	return c
}

// notBuilt says what to do if the module does not exist yet.
func notBuilt(dir string, err error) error {
	if _, statErr := os.Stat(filepath.Join(dir, bundle.ModuleName)); errors.Is(statErr, os.ErrNotExist) {
		if _, statErr := os.Stat(filepath.Join(dir, bundle.ManifestName)); statErr == nil {
			return fmt.Errorf("%s does not exist: build it first with locket plugin build", filepath.Join(dir, bundle.ModuleName))
		}
	}
	return err
}

// loads returns an error if a host would not load the module with this manifest.
func loads(ctx context.Context, module, manifest []byte) (err error) {
	m, err := wasm.ParseManifest(manifest)
	if err != nil {
		return err
	}
	h, err := wasm.NewHost(ctx, wasm.Options{Idle: -1})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, h.Close(context.WithoutCancel(ctx))) }()
	_, err = h.Load(ctx, module, m)
	return err
}
