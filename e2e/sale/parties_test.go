package sale

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/locket-dev/locket/cloud/api"
	cloudmarket "github.com/locket-dev/locket/cloud/market"
	"github.com/locket-dev/locket/cloud/market/ledger"
	"github.com/locket-dev/locket/cloud/market/pay/voucher"
	"github.com/locket-dev/locket/cloud/market/postgres"
	"github.com/locket-dev/locket/cloud/market/tables"
	"github.com/locket-dev/locket/cloud/market/translog"
	"github.com/locket-dev/locket/cloud/relay"
	"github.com/locket-dev/locket/cloud/relay/embedded"
	"github.com/locket-dev/locket/internal/testing/plugincache"
	"github.com/locket-dev/locket/node"
	"github.com/locket-dev/locket/node/config"
	"github.com/locket-dev/locket/node/market"
	"github.com/locket-dev/locket/node/serve"
	"github.com/locket-dev/locket/sync/remote"
	"github.com/locket-dev/locket/sync/trade"
	"github.com/locket-dev/locket/sync/trade/tradetest"
	synclog "github.com/locket-dev/locket/sync/translog"
	"github.com/locket-dev/locket/wasm/plugins"
)

// fee is the operators' fee, in hundredths of a percent.
const fee = 1000

// operate runs a market. set is its folder, the number of its key, the file of the arbiter's key,
// the URL of a PostgreSQL database or "-", and its address.
func operate(ctx context.Context, set string) (any, func(context.Context, *command) (any, error), error) {
	f := strings.Fields(set)
	number, err := strconv.Atoi(f[1])
	if err != nil {
		return nil, nil, err
	}
	arbiter, err := os.ReadFile(f[2])
	if err != nil {
		return nil, nil, err
	}
	var db *tables.DB
	if f[3] == "-" {
		db, err = tables.Open(ctx, f[0])
	} else {
		db, err = postgres.Open(ctx, f[3])
	}
	if err != nil {
		return nil, nil, err
	}
	key := tradetest.PartyKey(byte(number))
	vouchers, err := voucher.New(db, key.Seed(), now)
	if err != nil {
		return nil, nil, err
	}
	signer, err := synclog.LogSigner("market.test", key)
	if err != nil {
		return nil, nil, err
	}
	log, err := translog.New(db, signer)
	if err != nil {
		return nil, nil, err
	}
	m, err := cloudmarket.New(cloudmarket.Config{DB: db, Key: key, Arbiter: string(arbiter), Fee: fee, Vouchers: vouchers, Log: log, LogName: "market.test", Now: now})
	if err != nil {
		return nil, nil, err
	}
	store, err := embedded.Open(ctx, filepath.Join(f[0], "relay"))
	if err != nil {
		return nil, nil, err
	}
	ln, err := net.Listen("tcp", f[4])
	if err != nil {
		return nil, nil, err
	}
	s := api.New(api.Config{Relay: relay.New(store, relay.Config{Now: now}), Market: m, MarketLog: log.Handler(), StrangersPerMinute: 1e6, Now: now})
	ended := make(chan error, 2)
	go func() { ended <- s.Serve(ctx, ln) }()
	go func() { // the work of Run each minute and each ten seconds
		every := time.NewTicker(50 * time.Millisecond)
		defer every.Stop()
		for {
			_, err := log.Publish(ctx)
			if err := errors.Join(err, m.Sweep(ctx)); err != nil {
				ended <- err
				return
			}
			<-every.C
		}
	}()
	return "http://" + ln.Addr().String(), func(ctx context.Context, c *command) (any, error) {
		select {
		case err := <-ended:
			return nil, err
		default:
		}
		switch c.Do {
		case "issue":
			return m.Issue(ctx, c.Text, 1, ledger.Money{Minor: deposited, Currency: "EUR"}, now().Add(24*time.Hour))
		case "earned":
			var minor int64
			err := db.Read(ctx, func(tx *sql.Tx) error {
				return tx.QueryRowContext(ctx, `SELECT CAST(coalesce(sum(balance), 0) AS bigint) FROM ledger_accounts WHERE kind = 'seller'`).Scan(&minor)
			})
			return minor, err
		case "check":
			return nil, db.Read(ctx, func(tx *sql.Tx) error {
				var stuck int
				if err := tx.QueryRowContext(ctx, `SELECT count(*) FROM orders WHERE (deadline = 0) <> (phase IN ('accepted', 'settled', 'refunded', 'expired'))`).Scan(&stuck); err != nil {
					return err
				}
				if stuck > 0 {
					return fmt.Errorf("%d orders have no time limit, or one after their end", stuck)
				}
				return ledger.New(db.Dialect, now).Check(ctx, tx)
			})
		}
		return nil, fmt.Errorf("%s: unknown", c.Do)
	}, nil
}

// sell runs a seller's complete node. set is its home.
func sell(ctx context.Context, home string) (any, func(context.Context, *command) (any, error), error) {
	all, err := plugins.All()
	if err != nil {
		return nil, nil, err
	}
	cfg := config.Config{Home: home, Wearer: "Maja", Zone: "Europe/Berlin", Broker: config.Broker{Listen: "127.0.0.1:0"}}
	for _, b := range all {
		cfg.Plugins.Disabled = append(cfg.Plugins.Disabled, b.Manifest.ID)
	}
	cfg.Defaults()
	cfg.Disk.Reserve = 1 << 20
	if _, err := os.Stat(home); errors.Is(err, os.ErrNotExist) {
		if _, err := node.Init(cfg, node.InitOptions{KeyFile: true}); err != nil {
			return nil, nil, err
		}
	}
	n, err := node.Open(cfg, node.Options{Cache: os.Getenv(plugincache.Env), HTTP: new(http.Client), Now: now})
	if err != nil {
		return nil, nil, err
	}
	if ok, err := n.UnlockAsConfigured(ctx); err != nil || !ok {
		return nil, nil, fmt.Errorf("unlocked %t: %w", ok, err)
	}
	c := serve.InProcess(serve.New(serve.Options{Services: n.Services()}))
	return "", func(ctx context.Context, r *command) (any, error) {
		switch r.Do {
		case "tell":
			no := false
			return c.Add(ctx, serve.AddRequest{Text: r.Text, Infer: &no, Tags: []string{"garden"}})
		case "publish":
			l := serve.ListingRequest{Bundle: serve.ShareRequest{Tags: []string{"garden"}}, Market: r.Market, Title: r.Title, Categories: []string{"garden"}, Languages: []string{"en"},
				Price: price, Approve: r.Approve, DeliverDays: 2, AcceptDays: 1}
			if r.Subscribing {
				l.EveryDays = periodDays
			}
			if r.Answering {
				l.Answers = &serve.ListingAnswers{Each: 100, All: 100}
			}
			made, err := c.PublishListing(ctx, l)
			return made.ID, err
		case "sales":
			return c.Sales(ctx)
		case "deliver", "refund":
			return c.SettleSale(ctx, serve.SaleRequest{Order: r.Order, Act: serve.SaleAct(r.Do), Reason: r.Text})
		case "move":
			moved, err := c.MoveListings(ctx, serve.MarketMove{To: r.Market})
			for _, l := range moved {
				if l.Why != "" {
					err = errors.Join(err, errors.New(l.Why))
				}
			}
			return moved, err
		case "withdraw":
			return c.WithdrawListing(ctx, r.Listing, "")
		}
		return nil, fmt.Errorf("%s: unknown", r.Do)
	}, nil
}

// buy is a buyer who is only a key. set is the folder.
func buy(_ context.Context, dir string) (any, func(context.Context, *command) (any, error), error) {
	b := &market.Buyer{Dir: dir, Now: now}
	return "", func(ctx context.Context, r *command) (any, error) {
		switch r.Do {
		case "deposit":
			return nil, b.WithMarket(ctx, r.Market, func(m *remote.Market, _ trade.Party, _ trade.Terms) error {
				_, err := m.Deposit(ctx, r.Text)
				return err
			})
		case "order", "subscribe":
			var id trade.Hash
			err := b.WithMarket(ctx, r.Market, func(m *remote.Market, by trade.Party, _ trade.Terms) error {
				var of trade.Hash
				if err := of.UnmarshalText([]byte(r.Listing)); err != nil {
					return err
				}
				_, l, err := m.Show(ctx, of)
				if err != nil {
					return err
				}
				if r.Do == "subscribe" {
					_, err = b.Subscribe(ctx, r.Market, l, l.Price, l.Currency, 10_000, time.Time{})
					return err
				}
				var o *market.Bought
				if r.Text != "" {
					o, err = b.Ask(ctx, m, by, r.Market, l, r.Text)
				} else {
					o, err = b.Order(ctx, m, by, r.Market, l)
				}
				if err == nil {
					id = o.State.ID
				}
				return err
			})
			return id, err
		case "fetch":
			return nil, b.Fetch(ctx)
		case "move":
			moved, err := b.Move(ctx, r.Market)
			for _, o := range moved {
				err = errors.Join(err, o.Err)
			}
			return nil, err
		}
		o, err := b.Find(r.Order)
		if err == nil && !o.State.Phase.Ended() {
			err = b.Refresh(ctx, o)
		}
		if err != nil {
			return nil, err
		}
		switch {
		case r.Do == "pay" && o.State.Phase == trade.Ordered:
			err = b.Pay(ctx, o, "")
		case r.Do == "accept" && o.State.Phase == trade.Delivered:
			err = b.Accept(ctx, o)
		case r.Do == "dispute" && o.State.Phase == trade.Delivered:
			err = b.Dispute(ctx, o, 0, "It is not a garden.")
		case r.Do == "review" && !o.Reviewed:
			err = b.Review(ctx, o, 4, "As it says.")
		case r.Do == "open":
			_, err = b.OpenAll(ctx, o)
		}
		return nil, err
	}, nil
}
