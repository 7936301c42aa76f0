// Starts a PLC directory and Bluesky's own PDS on loopback, for the e2e test.
//   node network.mjs MODULES FOLDER
// MODULES is the folder that package.json was installed in, FOLDER takes the PDS's data. Both listen on
// ports that were free. Prints one JSON line {"plc":URL,"pds":URL} when ready, ends on SIGTERM.
import crypto from 'node:crypto'
import fs from 'node:fs'
import { createRequire } from 'node:module'
import net from 'node:net'
import path from 'node:path'
import { pathToFileURL } from 'node:url'

const [modules, folder] = process.argv.slice(2)
const installed = path.join(modules, 'node_modules')
const entry = (name) => import(pathToFileURL(path.join(installed, name)).href)
const require = createRequire(path.join(installed, 'x.js'))

const freePort = () =>
  new Promise((resolve, reject) => {
    const probe = net.createServer()
    probe.on('error', reject)
    probe.listen(0, '127.0.0.1', () => {
      const { port } = probe.address()
      probe.close(() => resolve(port))
    })
  })

// The directory keeps its operations in memory: it lives as long as the test.
const { PlcServer, Database } = require('@did-plc/server')
const plcPort = await freePort()
const plc = PlcServer.create({ db: Database.mock(), port: plcPort })
await plc.start()

const { PDS } = await entry('@atproto/pds/dist/index.js')
const pdsPort = await freePort()
for (const name of ['data', 'blobs']) fs.mkdirSync(path.join(folder, name), { recursive: true })
const secret = () => crypto.randomBytes(32).toString('hex')
const pds = await PDS.fromEnv({
  devMode: true,
  hostname: 'localhost',
  port: pdsPort,
  serviceHandleDomains: ['.test'],
  inviteRequired: false,
  rateLimitsEnabled: false,
  didPlcUrl: `http://localhost:${plcPort}`,
  dataDirectory: path.join(folder, 'data'),
  blobstoreDiskLocation: path.join(folder, 'blobs'),
  jwtSecret: secret(),
  adminPassword: secret(),
  plcRotationKeyK256PrivateKeyHex: secret(),
})
await pds.start()

process.on('SIGTERM', async () => {
  await pds.destroy()
  await plc.destroy()
  process.exit(0)
})
console.log(JSON.stringify({ plc: `http://localhost:${plcPort}`, pds: `http://localhost:${pdsPort}` }))
