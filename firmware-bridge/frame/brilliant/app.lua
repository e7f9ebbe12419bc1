-- Locket's app for Frame and Halo: what the glasses hear, see and feel goes to the host, and a
-- short answer comes back. Data to the host begins with a code: 05 sound, 06 its end,
-- 07 photo, 0d its size, 08 its end, 09 tap, 0a motion, 0c battery. Of the host: 10 microphone, 11 photo, 12 text.
local code, want, parts = 0, 0, {}
local hearing, shooting, size = 0, false, 0
local shown, felt, told = 0, -10, -1
local clock = 0
local most = frame.bluetooth.max_length() - 1
most = most - most % 2
local piece = math.min(most - most % 40, 240) -- whole frames of LC3

local function send(c, s)
  while not pcall(frame.bluetooth.send, string.char(c) .. s) do frame.sleep(0.005) end
end

local function show(text)
  local y = 1
  for line in (text .. '\n'):gmatch('(.-)\n') do
    if line ~= '' then frame.display.text(line, 1, y) end
    y = y + 60
  end
  frame.display.show()
  shown = clock
end

local function done(c, s)
  if c == 0x10 then
    local how = s:byte(1) -- 0 off, 1 samples, 2 LC3, which Halo alone has
    if how ~= hearing and hearing > 0 then
      frame.microphone.stop()
      for _ = 1, 300 do -- what it still has would come with the next sound
        local old = frame.microphone.read(piece)
        if old == nil or #old == 0 then break end
      end
      send(0x06, '')
    end
    if how ~= hearing and how == 1 then
      frame.microphone.start{sample_rate = 8000, bit_depth = 16}
    elseif how ~= hearing and how == 2 then
      frame.microphone.start{encoder = 'lc3', sample_rate = 16000, bitrate = 32000, duration = 1000}
    end
    hearing = how
  elseif c == 0x11 then
    if not shooting then
      if frame.camera.auto then -- Frame finds its exposure in about a second
        for _ = 1, 10 do
          frame.camera.auto{}
          frame.sleep(0.1)
        end
      end
      frame.camera.capture{}
      shooting, size = true, 0
    end
  elseif c == 0x12 then
    show(s)
  end
end

-- A message is code, u16 length and bytes; what does not fit goes on as code and bytes.
frame.bluetooth.receive_callback(function(b)
  if want == 0 then
    if #b < 3 then return end
    code, want, parts = b:byte(1), b:byte(2) * 256 + b:byte(3), {b:sub(4)}
    want = want - (#b - 3)
  else
    parts[#parts + 1] = b:sub(2)
    want = want - (#b - 1)
  end
  if want <= 0 then
    want = 0
    done(code, table.concat(parts))
  end
end)
frame.imu.tap_callback(function() send(0x09, '') end)
print('Locket app started')

while true do
  local rest = 0.01
  if hearing > 0 then
    local s = frame.microphone.read(hearing == 2 and piece or most)
    if s ~= nil and #s > 0 then
      send(0x05, s)
      rest = 0.001
    end
  end
  if shooting and frame.camera.image_ready() then
    local s = frame.camera.read(most)
    if s == nil then
      send(0x0d, string.pack('>I4', size))
      send(0x08, '')
      shooting = false
    else
      send(0x07, s)
      size = size + #s
      rest = 0.001
    end
  end
  if clock - felt >= 10 then
    felt = clock
    local m = frame.imu.raw()
    local c, a = m.compass, m.accelerometer
    send(0x0a, string.pack('<Bi2i2i2i2i2i2', 0, c.x, c.y, c.z, a.x, a.y, a.z))
    local level = math.floor(frame.battery_level())
    if level ~= told then
      told = level
      send(0x0c, string.char(level))
    end
  end
  if shown > 0 and clock - shown >= 15 then
    frame.display.text(' ', 1, 1)
    frame.display.show()
    shown = 0
  end
  frame.sleep(rest)
  clock = clock + rest
end
