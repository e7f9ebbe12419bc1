// Package homecmd contains the commands for a home: init and config; passphrase, keys, lock and
// unlock, which concern its keys; pause and resume; and status and doctor, which show its state and
// repair it.
package homecmd

import (
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/locket-dev/locket/cmd/locket/cli"
	"github.com/locket-dev/locket/node/config"
)

func InitCommand(a *cli.App) *cobra.Command {
	var file string
	var noCheck bool
	var o cli.InitOptions
	c := &cobra.Command{
		Use: "init", Short: "Make a home: a folder with its keys, and 24 words to recover them", Args: cli.NoArgs(),
		Long: `Makes the node's folder with its keys, and prints 24 words, once. The words recover the
keys. Write them down: they are not stored anywhere.

A passphrase, a key file in the home, or the OS keyring opens the keys. The command asks
for the passphrase, or reads it from a file. With a key file in the home, anyone who has
the disk can read the memories.`,
		Example: `  locket init
  locket init --passphrase-file ~/.locket-pass --wearer Maja --zone Europe/Berlin
  locket init --home /tmp/try --key-file --no-check`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			l, err := a.Load()
			if err != nil {
				return err
			}
			if file != "" || !o.KeyFile && !o.Keyring {
				if o.Passphrase, err = a.NewPassphrase(file); err != nil {
					return err
				}
			}
			phrase, err := a.InitHome(l.Config, o)
			if err != nil {
				return err
			}
			written, err := a.WriteSettings(l, filepath.Join(l.Home, config.FileName), file, &o)
			if err != nil {
				return err
			}
			if a.JSON {
				return a.Print(initialised{l.Home, written, strings.Fields(phrase), cli.VaultNote}, nil)
			}
			a.ShowPhrase(a.PhraseOut(!noCheck), l.Home, written, phrase)
			if noCheck {
				return nil
			}
			return a.CheckPhrase(strings.Fields(phrase))
		},
	}
	f := c.Flags()
	f.StringVar(&file, "passphrase-file", "", "read the passphrase from a `file`, now and at each start")
	f.BoolVar(&o.KeyFile, "key-file", false, "keep a key file in the home")
	f.BoolVar(&o.Keyring, "keyring", false, "keep a key in the OS keyring")
	f.StringVar(&o.Language, "words", "en", "`language` of the 24 words: en or zh")
	cli.Choose(f, "words", "en", "zh")
	f.BoolVar(&noCheck, "no-check", false, "do not check that you have written down the words")
	f.Var(a.Setting("wearer", "--wearer"), "wearer", "`name` of the person whose memory it is")
	f.Var(a.Setting("zone", "--zone"), "zone", "the wearer's `zone`, such as Europe/Berlin")
	return c
}

// initialised is what init prints with --json.
type initialised struct {
	Home   string   `json:"home"`
	Config string   `json:"config,omitempty"` // the file that was written
	Phrase []string `json:"recovery_phrase"`
	Note   string   `json:"note"`
}
