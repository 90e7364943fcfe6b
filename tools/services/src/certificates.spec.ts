import { X509Certificate } from 'node:crypto';
import { ServerAbsent } from './absent.ts';
import { makeCertificates } from './certificates.ts';

test('a made certificate is signed by its root and names the loopback host', async () => {
  const { root, server } = await makeCertificates();
  const certificate = new X509Certificate(server.certificate);
  expect(certificate.verify(new X509Certificate(root).publicKey)).toBe(true);
  expect(certificate.checkHost('localhost')).toBe('localhost');
  expect(certificate.checkIP('127.0.0.1')).toBe('127.0.0.1');
});

test('without openssl there are none, and the error says so', async () => {
  await expect(makeCertificates({ PATH: '' })).rejects.toThrow(ServerAbsent);
});
