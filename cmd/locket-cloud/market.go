package main

import (
	"cmp"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/locket-dev/locket/cloud/api"
	"github.com/locket-dev/locket/cloud/market"
	"github.com/locket-dev/locket/cloud/market/pay/voucher"
	"github.com/locket-dev/locket/cloud/market/postgres"
	markettables "github.com/locket-dev/locket/cloud/market/tables"
	"github.com/locket-dev/locket/cloud/market/translog"
	"github.com/locket-dev/locket/internal/atomicfile"
	"github.com/locket-dev/locket/sync/httpsig"
	"github.com/locket-dev/locket/sync/remote"
	"github.com/locket-dev/locket/sync/trade"
	synclog "github.com/locket-dev/locket/sync/translog"
)

// marketFlags say whether and how a market is served.
type marketFlags struct {
	on           bool
	key, arbiter string
	fee          float64 // percent
	name         string
	witnesses    []string // the witnesses of this market's log: URL and key
	watched      []string // the keys of the logs that are cosigned here
	witness      string   // name
	stripe       stripeFlags
	x402         x402Flags
}

func (m *marketFlags) flags(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.BoolVar(&m.on, "market", false, "also serve a market: listings, orders and the money held for them (docs/market.md)")
	fl.StringVar(&m.key, "market-key", "", "`file` of the market's key, made if it does not exist; default: market.key in --data. Anyone who has the key can issue vouchers and sign as the market")
	fl.StringVar(&m.arbiter, "market-arbiter", "", "`file` with the key of the arbiter, who decides disputes, as printed by 'locket share key' on the arbiter's own machine")
	fl.Float64Var(&m.fee, "market-fee", 0, "the market's fee, in `percent` of what sellers earn, 0 to 50")
	fl.StringVar(&m.name, "market-name", "locket-market", "`name` of the market's transparency log, such as market.example/log; it never changes")
	fl.StringArrayVar(&m.witnesses, "market-witness", nil, "`\"URL KEY\"` of another operator's relay that cosigns the log; KEY is what 'locket-cloud market keys' prints there; may be repeated")
	fl.StringArrayVar(&m.watched, "witness", nil, "`KEY` of another market's log that this relay cosigns, as printed there by 'locket-cloud market keys'; may be repeated")
	m.stripe.flags(fl)
	m.x402.flags(fl)
	fl.StringVar(&m.witness, "witness-name", "locket-witness", "`name` of this relay as a witness; it never changes")
}

func (m *marketFlags) check(w *where) error {
	switch {
	case m.key == "" && w.data == "" && (m.on || len(m.watched) > 0):
		return fmt.Errorf("%w: --market and --witness with --db need --market-key FILE", errUsage)
	case !m.on && len(m.witnesses) > 0:
		return fmt.Errorf("%w: --market-witness needs --market", errUsage)
	case !m.on:
		return nil
	case m.arbiter == "":
		return fmt.Errorf("%w: --market needs --market-arbiter FILE: who decides disputes", errUsage)
	case m.fee < 0 || m.fee > 50:
		return fmt.Errorf("%w: --market-fee must be from 0 to 50", errUsage)
	}
	return errors.Join(m.stripe.check(), m.x402.check(m.stripe.page))
}

// open adds a market and a witness to the server if the flags ask for them.
func (m *marketFlags) open(ctx context.Context, w *where, c *api.Config, log *slog.Logger) (run func(context.Context) error, done func() error, err error) {
	run = func(context.Context) error { return nil }
	if !m.on && len(m.watched) == 0 {
		return run, func() error { return nil }, nil
	}
	path := cmp.Or(m.key, filepath.Join(w.data, "market.key"))
	key, err := marketKey(path, true)
	if err != nil {
		return nil, nil, err
	}
	var db *markettables.DB
	if w.db != "" {
		db, err = postgres.Open(ctx, w.db)
	} else {
		db, err = markettables.Open(ctx, w.data)
	}
	if err != nil {
		return nil, nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, db.Close())
		}
	}()
	if c.Witness, err = m.watch(db, key); err != nil {
		return nil, nil, err
	}
	done = db.Close
	if m.on {
		made, err := m.market(ctx, db, key, c, log)
		if err != nil {
			return nil, nil, err
		}
		run, done = made.Run, func() error { return errors.Join(made.Close(), db.Close()) }
	}
	return run, done, nil
}

func (m *marketFlags) market(ctx context.Context, db *markettables.DB, key ed25519.PrivateKey, c *api.Config, log *slog.Logger) (*market.Market, error) {
	arbiter, err := os.ReadFile(m.arbiter)
	if err != nil {
		return nil, fmt.Errorf("read the arbiter's key: %w", err)
	}
	vouchers, err := voucher.New(db, derived(key, "vouchers"), nil)
	if err != nil {
		return nil, err
	}
	signer, err := synclog.LogSigner(m.name, key)
	if err != nil {
		return nil, fmt.Errorf("%w: --market-name: %w", errUsage, err)
	}
	witnesses, err := m.cosigners()
	if err != nil {
		return nil, err
	}
	entries, err := translog.New(db, signer, witnesses...)
	if err != nil {
		return nil, err
	}
	pages, err := m.stripe.open(db)
	if err != nil {
		return nil, err
	}
	agents, err := m.x402.open(ctx, db, m.stripe.page, derived(key, "x402"), log)
	if err != nil {
		return nil, err
	}
	made, err := market.New(market.Config{Pages: pages, X402: agents, DB: db, Key: key, Arbiter: strings.TrimSpace(string(arbiter)), Fee: uint32(m.fee*100 + 0.5), Vouchers: vouchers,
		Log: entries, LogName: m.name, Witnesses: m.witnesses, Logger: log})
	if err != nil {
		return nil, fmt.Errorf("market: %w", err)
	}
	c.Market, c.MarketLog = made, entries.Handler()
	return made, nil
}

// derived returns a secret for one use, derived from the market's key.
func derived(key ed25519.PrivateKey, use string) []byte {
	secret := sha256.Sum256(append([]byte("locket/v1 market "+use+"\x00"), key.Seed()...))
	return secret[:]
}

// marketKey reads the file of a market's key: the Ed25519 seed in 64 hexadecimal characters. If
// create is set and the file does not exist, it makes one.
func marketKey(path string, create bool) (ed25519.PrivateKey, error) {
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) && create {
		seed := make([]byte, ed25519.SeedSize)
		rand.Read(seed)
		b = append(hex.AppendEncode(nil, seed), '\n')
		err = atomicfile.Write(path, b)
	}
	if err != nil {
		return nil, fmt.Errorf("read the market's key: %w", err)
	}
	seed, err := hex.DecodeString(strings.TrimSpace(string(b)))
	if err != nil || len(seed) != ed25519.SeedSize {
		return nil, fmt.Errorf("read the market's key %s: want 64 hexadecimal characters", path)
	}
	return ed25519.NewKeyFromSeed(seed), nil
}

func (a *app) marketCommand() *cobra.Command {
	var at, file string
	cmd := &cobra.Command{
		Use: "market", Short: "Operate a market: vouchers, reports, takedowns and keys", Args: nothing,
		Long: `Operate a market that 'locket-cloud serve --market' serves, with the market's key. The
bundles in a market are sealed: the operator sees listings, who orders what, and reports.`,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	p := cmd.PersistentFlags()
	p.StringVar(&at, "at", "http://127.0.0.1:7440", "`URL` of the relay with the market")
	p.StringVar(&file, "market-key", "", "`file` of the market's key, as given to serve")
	ask := func(ctx context.Context, f func(*remote.Market) error) error {
		if file == "" {
			return fmt.Errorf("%w: --market-key FILE is missing: market.key in the folder of --data", errUsage)
		}
		key, err := marketKey(file, false)
		if err != nil {
			return err
		}
		r, err := remote.New(at, remote.Option{})
		if err != nil {
			return fmt.Errorf("%w: --at: %w", errUsage, err)
		}
		defer r.Close()
		return f(r.Market(trade.PartyOf(key).Key, httpsig.KeySigner(key)))
	}
	cmd.AddCommand(a.vouchersCommand(ask), a.reportsCommand(ask), a.takedownCommand(ask), a.keysCommand(&file), a.x402Command(ask))
	return cmd
}

type marketAsk func(context.Context, func(*remote.Market) error) error

func (a *app) reportsCommand(ask marketAsk) *cobra.Command {
	return &cobra.Command{
		Use: "reports", Short: "List the reports about live listings, newest first", Args: nothing,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return ask(cmd.Context(), func(m *remote.Market) error {
				all, err := m.Complaints(cmd.Context())
				for _, c := range all {
					if _, err := fmt.Fprintf(a.stdout, "%s  %s  %s  %q\n", time.Unix(c.At, 0).UTC().Format(time.DateTime), c.Listing, c.By.String()[:8], c.Reason); err != nil {
						return err
					}
				}
				return err
			})
		},
	}
}

func (a *app) takedownCommand(ask marketAsk) *cobra.Command {
	var reason string
	c := &cobra.Command{
		Use: "takedown LISTING|ORDER --reason TEXT", Short: "Take down a listing, or delete a review, with a public reason", Args: one("LISTING|ORDER"),
		Long: `Nobody can find or order the listing any more. Earlier orders continue. If the id is that of
an order (locket market show --json prints it with each review), the buyer's review is
deleted for good. The reason is recorded in the transparency log.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			n := trade.Notice{Version: trade.Version, Reason: reason, At: time.Now().Unix()}
			if err := n.Listing.UnmarshalText([]byte(args[0])); err != nil {
				return fmt.Errorf("%w: %w", errUsage, err)
			}
			return ask(cmd.Context(), func(m *remote.Market) error { return m.TakeDown(cmd.Context(), n) })
		},
	}
	c.Flags().StringVar(&reason, "reason", "", "why")
	return c
}
