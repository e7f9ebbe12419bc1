package main

import (
	"github.com/locket-dev/locket/firmware-bridge/carry"
	"github.com/locket-dev/locket/firmware-bridge/carry/brilliant"
	"github.com/locket-dev/locket/firmware-bridge/carry/files"
	"github.com/locket-dev/locket/firmware-bridge/carry/friend"
	"github.com/locket-dev/locket/firmware-bridge/carry/frigate"
	"github.com/locket-dev/locket/firmware-bridge/carry/g1"
	"github.com/locket-dev/locket/firmware-bridge/carry/halo"
	"github.com/locket-dev/locket/firmware-bridge/carry/homeassistant"
	"github.com/locket-dev/locket/firmware-bridge/carry/limitless"
	"github.com/locket-dev/locket/firmware-bridge/carry/omi"
	"github.com/locket-dev/locket/firmware-bridge/carry/owntracks"
	"github.com/locket-dev/locket/firmware-bridge/carry/screen"
	"github.com/locket-dev/locket/firmware-bridge/carry/wyoming"
	"github.com/locket-dev/locket/firmware-bridge/carry/xiaozhi"
)

// families are the kinds of devices that have a command, one per line.
func families() []carry.Family {
	return []carry.Family{
		omi.Family,
		friend.Family,
		limitless.Family,
		brilliant.Family,
		halo.Family,
		g1.Family,
		owntracks.Family,
		frigate.Family,
		homeassistant.Family,
		xiaozhi.Family,
		wyoming.Family,
		files.Family,
		screen.Family,
	}
}
