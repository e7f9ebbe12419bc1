package serve

import (
	"context"
	"net/http"
	"strconv"

	"github.com/locket-dev/locket/sync/trade"
)

// Carrier moves what the wearer bought: to another market, or into a file.
type Carrier interface {
	// MoveOrders moves what was bought, with the wearer's reviews, to another market.
	// The market where it was bought is not asked. Each result says what failed.
	MoveOrders(ctx context.Context, r OrderMove) ([]MovedOrder, error)
	// OrderFile returns an order as a CAR file: the sealed items, the listing and the
	// order. The error is ErrConflict as long as the items were not delivered.
	OrderFile(ctx context.Context, order trade.Hash) ([]byte, error)
}

// OrderMove says where the wearer's purchases move to.
type OrderMove struct {
	To     string `json:"to"`                // URL of the relay with the other market
	DryRun bool   `json:"dry_run,omitempty"` // only show what would move
}

// MovedOrder is an order that moved.
type MovedOrder struct {
	Order    trade.Hash `json:"order"`
	Title    string     `json:"title"`
	Open     bool       `json:"open,omitempty"`     // the order has not ended
	Reviewed bool       `json:"reviewed,omitempty"` // the review moves with it
	Why      string     `json:"why,omitempty"`      // why it did not move; the same request again continues
}

// MovedOrdersAnswer lists the orders that moved.
type MovedOrdersAnswer struct {
	Moves []MovedOrder `json:"moves"`
}

// MediaTypeCAR is the content type of a CAR file.
const MediaTypeCAR = "application/vnd.ipld.car"

var carFile = []Format{schema(MediaTypeCAR, "type", "string", "format", "binary")}

var moveTopic = topic[Carrier]{moveOrders.untyped, orderFile.untyped}

var (
	moveOrders = listRoute[MovedOrdersAnswer](RightOwner, spec{
		method: "POST", path: "/v1/market/order-moves", id: "moveOrders",
		summary: "Move purchases and their reviews to another market",
		about:   "The seller must have moved the listing there first. The other market then also learns who bought.",
		gives:   "The orders, with the reason for each that did not move",
	}, Carrier.MoveOrders)

	orderFile = rawRoute[Carrier, orderOf, []byte](RightOwner, spec{
		method: "GET", path: "/v1/market/orders/{order}/car", id: "orderFile",
		summary: "Get a purchase as a CAR file, which other tools can read",
		about:   "A CAR file (version 1) with the sealed items, the listing and the order. Each is a block that is named by its SHA-256. The items can be read only with the wearer's key.",
		gives:   "The file",
	}, carFile, func(w http.ResponseWriter, r *http.Request, s Carrier, in orderOf) error {
		b, err := s.OrderFile(r.Context(), in.Order)
		return writeFile(w, MediaTypeCAR, b, err)
	})
)

// writeFile answers with a file, which a browser saves instead of showing it.
func writeFile(w http.ResponseWriter, media string, b []byte, err error) error {
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", media)
	w.Header().Set("Content-Length", strconv.Itoa(len(b)))
	w.Header().Set("Content-Disposition", "attachment")
	w.WriteHeader(http.StatusOK)
	_, _ = w.Write(b) // a client that went away is not our error
	return nil
}
