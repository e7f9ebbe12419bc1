package plugincmd

// ReadyPlugins is the folder in which packages put compiled plugins for all homes of the machine.
const ReadyPlugins = "/var/cache/locket/plugins"
