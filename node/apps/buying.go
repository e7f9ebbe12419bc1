package apps

import (
	"context"
	"fmt"
	"strings"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/serve"
	"github.com/locket-dev/locket/sync/trade"
)

// checkBuying checks what an app may buy.
func checkBuying(b *serve.AppBuying) error {
	if b.Market == "" || !strings.HasPrefix(b.Market, "https://") && !strings.HasPrefix(b.Market, "http://") {
		return fmt.Errorf("market: %.100q: want the URL of a relay with a market", b.Market)
	}
	_, code, err := trade.ParsePrice(b.Budget)
	if err != nil {
		return fmt.Errorf("budget: %w", err)
	}
	if b.Alone != "" {
		_, other, err := trade.ParsePrice(b.Alone)
		if err != nil {
			return fmt.Errorf("alone: %w", err)
		}
		if other != code {
			return fmt.Errorf("alone: %s: the budget is in %s", b.Alone, code)
		}
	}
	if len(b.Categories) > maxTags {
		return fmt.Errorf("categories: %d, at most %d", len(b.Categories), maxTags)
	}
	return nil
}

// buyer is serve.Buyer for apps. An order of one app does not exist for
// another.
type buyer struct{ in serve.Buyer }

// spends returns the context in which the app of a request buys.
func spends(ctx context.Context) (context.Context, *visit, error) {
	v := visitOf(ctx)
	if v == nil {
		return nil, nil, fmt.Errorf("%w: these calls are for apps; you buy with locket market", serve.ErrUnsupported)
	}
	if err := v.can(serve.RightBuy); err != nil {
		return nil, nil, err
	}
	if v.app.Buying == nil {
		return nil, nil, refused("app %s has no budget", v.Name())
	}
	return serve.WithSpender(ctx, &serve.Spender{App: v.Name(), AppBuying: *v.app.Buying}), v, nil
}

func (b *buyer) Goods(ctx context.Context, q serve.GoodsQuery) (out serve.GoodsAnswer, err error) {
	ctx, v, err := spends(ctx)
	if err != nil {
		return out, err
	}
	if out, err = b.in.Goods(ctx, q); err != nil {
		return out, err
	}
	return out, v.book.note(ctx, v, serve.AppUse{Did: "findGoods"})
}

// Purchase logs what an app did with an order, and what it was given of it.
func (b *buyer) Purchase(ctx context.Context, r serve.PurchaseRequest) (out serve.Purchase, err error) {
	ctx, v, err := spends(ctx)
	if err != nil {
		return out, err
	}
	if err := v.begin(); err != nil { // a key that is revoked meanwhile must not pay
		return out, err
	}
	asks := ""
	if r.Act == serve.OrderGoods && r.Question != "" { // the seller can read it
		asks = fmt.Sprintf(", asking %q", r.Question)
	}
	if out, err = b.in.Purchase(ctx, r); err != nil {
		return out, v.deny(ctx, r.Act+asks, err)
	}
	u := serve.AppUse{Did: r.Act + " " + out.Price + " " + out.Order.String()[:10] + asks}
	for i := range out.Items {
		u.Tokens += tokens(memory.Memory{Candidate: out.Items[i]})
	}
	return out, v.book.note(context.WithoutCancel(ctx), v, u)
}
