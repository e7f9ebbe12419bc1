package intake

import (
	"testing"

	mqtt "github.com/mochi-mqtt/server/v2"
)

// The four tickers of this version of the broker are found.
func TestBrokerTickersAreFound(t *testing.T) {
	if n := slowTickers(mqtt.New(nil)); n != 4 {
		t.Errorf("%d tickers", n)
	}
}
