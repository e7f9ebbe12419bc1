package main

import (
	"crypto/ed25519"
	"fmt"
	"net/http"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/mod/sumdb/note"

	markettables "github.com/locket-dev/locket/cloud/market/tables"
	"github.com/locket-dev/locket/cloud/market/translog"
	"github.com/locket-dev/locket/cloud/market/witness"
	synclog "github.com/locket-dev/locket/sync/translog"
)

// witnessSigner returns a signer with which the relay cosigns as a witness, under a market's key.
func witnessSigner(name string, key ed25519.PrivateKey) (note.Signer, error) {
	s, err := synclog.Cosigner(name, ed25519.NewKeyFromSeed(derived(key, "witness")), nil)
	if err != nil {
		return nil, fmt.Errorf("%w: --witness-name: %w", errUsage, err)
	}
	return s, nil
}

// watch returns a handler for a witness of the logs that --witness names. It returns nil if there
// are none.
func (m *marketFlags) watch(db *markettables.DB, key ed25519.PrivateKey) (http.Handler, error) {
	if len(m.watched) == 0 {
		return nil, nil
	}
	signer, err := witnessSigner(m.witness, key)
	if err != nil {
		return nil, err
	}
	var logs []note.Verifier
	for _, text := range m.watched {
		k, err := synclog.Key(text)
		if err != nil {
			return nil, fmt.Errorf("%w: --witness: %w", errUsage, err)
		}
		logs = append(logs, k)
	}
	w, err := witness.New(db, signer, logs...)
	if err != nil {
		return nil, err
	}
	return w.Handler(), nil
}

// witnessWithin is how long a witness may take to answer.
const witnessWithin = 20 * time.Second

// cosigners returns the witnesses that --market-witness names.
func (m *marketFlags) cosigners() (out []translog.Witness, err error) {
	for _, text := range m.witnesses {
		address, key, err := synclog.ParseWitness(text)
		if err != nil {
			return nil, fmt.Errorf("%w: --market-witness: %w", errUsage, err)
		}
		out = append(out, &translog.Remote{URL: address + synclog.WitnessPath, HTTP: &http.Client{Timeout: witnessWithin}, Verifier: key})
	}
	return out, nil
}

func (a *app) keysCommand(file *string) *cobra.Command {
	var name, witnessName string
	c := &cobra.Command{
		Use: "keys", Short: "Print the keys of the market's log and of this relay as a witness", Args: nothing,
		Long: `Print two public keys for other operators: the key of this market's log, for relays that
should cosign it (serve --witness), and the key of this relay as a witness, for markets whose
log it cosigns (serve --market-witness "URL KEY"). The market's key is made if it does not
exist. The command uses no network.`,
		Example: `  locket-cloud market keys --market-key DATA/market.key`,
		RunE: func(*cobra.Command, []string) error {
			if *file == "" {
				return fmt.Errorf("%w: --market-key FILE is missing: market.key in the folder of --data", errUsage)
			}
			key, err := marketKey(*file, true)
			if err != nil {
				return err
			}
			log, err := synclog.LogSigner(name, key)
			if err != nil {
				return fmt.Errorf("%w: --market-name: %w", errUsage, err)
			}
			cosigner, err := witnessSigner(witnessName, key)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(a.stdout, "log %s\nwitness %s\n", synclog.VerifierKey(log), synclog.VerifierKey(cosigner))
			return err
		},
	}
	c.Flags().StringVar(&name, "market-name", "locket-market", "`name` of the log, as given to serve")
	c.Flags().StringVar(&witnessName, "witness-name", "locket-witness", "`name` as a witness, as given to serve")
	return c
}
