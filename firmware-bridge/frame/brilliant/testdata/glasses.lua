-- A mock of the glasses' library, after brilliantlabsAR/frame-codebase: it has what the app uses, a
-- microphone with 500 samples, and a camera with 1,000 bytes. What is sent is printed as hex.
local clock, heard, left, taken, callback, tap = 0, false, 1000, false, nil, nil
local picture, lc3 = 0, false
local script = {}
local function hex(s) return (s:gsub('.', function(c) return ('%02x'):format(c:byte()) end)) end
frame = {
  sleep = function(s)
    clock = clock + s
    local step = table.remove(script, 1)
    if step then step() end
    if clock > 30 then os.exit(0) end
  end,
  battery_level = function() return 87.4 end,
  bluetooth = {
    max_length = function() return 243 end,
    send = function(s)
      assert(#s <= 243, 'too long')
      io.write('01', hex(s), '\n')
    end,
    receive_callback = function(f) callback = f end,
  },
  microphone = {
    start = function(o)
      if o.encoder then -- as Halo has it
        assert(o.encoder == 'lc3' and o.sample_rate == 16000 and o.bitrate == 32000 and o.duration == 1000)
        lc3 = true
      else
        assert(o.sample_rate == 8000 and o.bit_depth == 16)
      end
      assert(not heard, 'it hears already')
      heard = true
    end,
    stop = function() heard, lc3 = false, false end,
    read = function(n)
      assert(n % 2 == 0 and (not lc3 or n == 240))
      local m = math.min(n, left)
      left = left - m
      if m == 0 then return '' end
      return ('\1\2'):rep(m // 2)
    end,
  },
  camera = {
    auto = function() end,
    capture = function() taken, picture = true, 1000 end,
    image_ready = function() return taken end,
    read = function(n)
      if picture == 0 then taken = false return nil end
      local m = math.min(n, picture)
      picture = picture - m
      return ('x'):rep(m)
    end,
  },
  imu = {
    tap_callback = function(f) tap = f end,
    raw = function() return {compass = {x = 100, y = -200, z = 300}, accelerometer = {x = -1, y = 0, z = 4096}} end,
  },
  display = {
    text = function(s, x, y) io.write('text ', y, ' ', s, '\n') end,
    show = function() io.write('show\n') end,
  },
}
for line in io.lines(arg[2]) do
  local b = line:gsub('..', function(h) return string.char(tonumber(h, 16)) end)
  script[#script + 1] = function() callback(b:sub(2)) end
end
script[#script + 1] = function() tap() end
dofile(arg[1])
