package query_test

import (
	"testing"

	"github.com/locket-dev/locket/internal/testing/nodetest"
)

func TestMain(m *testing.M) { nodetest.Main(m) }
