package memorycmd

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/locket-dev/locket/cmd/locket/cli"
	"github.com/locket-dev/locket/node/serve"
)

func vaultRecoverCommand(a *cli.App) *cobra.Command {
	var file string
	c := &cobra.Command{
		Use: "recover", Short: "Open the secrets of devices that were lost", Args: cli.NoArgs(),
		Long: `Reads the 24 words, on a terminal or from standard input. With them it opens the secrets
that your other devices put into the vault and synced (sync.vault), and seals each again
for this device and the words. From then on, a device that still exists also needs the
words to open them. No secret is shown.`,
		Example: "  locket vault recover",
		RunE: func(cmd *cobra.Command, _ []string) error {
			fmt.Fprintln(a.Stderr, "Secrets that this device takes over open only here: other devices then need the words.")
			words, err := a.AskWords("")
			if err != nil {
				return err
			}
			return a.WithPassphraseFile(cmd.Context(), file, func(cl *serve.Client) error {
				v, err := cl.RecoverVault(cmd.Context(), serve.Secret(words))
				if errors.Is(err, serve.ErrVaultLocked) {
					if _, err := a.OpenVault(cmd.Context(), cl, file, vaultShow); err != nil {
						return err
					}
					v, err = cl.RecoverVault(cmd.Context(), serve.Secret(words))
				}
				return a.PrintUnless(err, v, func(w io.Writer) {
					fmt.Fprintf(w, "Recovered %d; %d could already be opened here.\n", v.Recovered, v.Here)
					if v.Lost > 0 {
						fmt.Fprintf(w, "The other %d can be opened only by the devices that sealed them.\n", v.Lost)
					}
				})
			})
		},
	}
	c.Flags().StringVar(&file, "passphrase-file", "", "read the passphrase from a `file`")
	return c
}
